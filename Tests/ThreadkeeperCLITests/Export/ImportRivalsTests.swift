// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What an import cannot stand beside", .timeLimit(.minutes(30)))
struct ImportRivalsTests {
  private static let router = "a1b2c3d4e5f60718"
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  private func add(_ items: [NewItem], to store: MovedStore) throws {
    try store.keychain.database.write { [keychain = store.keychain] tx in
      for item in items { _ = try keychain.add(item, in: tx) }
    }
  }

  private func owner(_ team: String) -> NewItem {
    var item = MovedStore.item("thread-owner/home", account: Self.router, [])
    item.attributes[.label] = .string(team)
    return item
  }

  private func credential(_ team: String) throws -> NewItem {
    let hex = Array(DatasetSamples.home.utf8)
    let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
      UInt8(String(decoding: hex[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
    var item = MovedStore.item("thread-network/home", account: Self.router, bytes)
    item.attributes[.accessGroup] = .string(team)
    return item
  }

  private func login(_ user: String) -> NewItem {
    NewItem(
      .internetPassword,
      attributes: [
        .account: .string(user), .server: .string("broker"), .port: .integer(1883),
        .protocolType: .string("mqtt"), .accessGroup: .string("threadkeeper.internal"),
      ], secret: SecretBytes(copying: [7]), accessible: .afterFirstUnlock)
  }

  private func names(_ store: MovedStore) throws -> Set<String> {
    try store.keychain.database.read { tx in
      Set(
        try store.keychain.items(matching: ItemQuery(), in: tx).map {
          "\($0[.service]?.string ?? $0[.account]?.string ?? "") \($0.accessGroup)"
        })
    }
  }

  private static let owned = "genp thread-owner/home \(router) (threadkeeper.internal)"
  private static let theirs = "genp thread-network/home \(router) (team-a)"

  private func text(
    _ taken: (outcome: ImportOutcome, lines: [ImportList.Line]), _ options: String...
  ) throws -> String {
    let command = try StoreImportCommand.parse(["file"] + options)
    return command.text(.init(taken.outcome, .init(lines: taken.lines), dryRun: command.dryRun))
  }

  @Test("Credentials that replace deletes are named and counted, and by a trial before they go")
  func deleted() throws {
    try add([owner("team-b")], to: old)
    try add([try credential("team-a")], to: new)
    let path = try old.export()
    let conflict = ImportConflict(
      item: Self.owned, differs: ["labl"], removes: [Self.theirs])

    let trial = try new.take(path, .replace, isTrial: true)
    #expect(trial.lines == [.conflict(conflict)])
    #expect(trial.outcome.deleted == 1 && trial.outcome.replaced == 1)
    let foretold = try text(trial, "--on-conflict", "replace", "--dry-run")
    #expect(foretold.contains("Would be deleted, which cannot stay"), "\(foretold)")
    #expect(foretold.contains("\n  \(Self.theirs)\n"), "\(foretold)")
    #expect(foretold.contains("already here, 1 deleted"), "\(foretold)")

    // Who has not decided yet sees what one of the ways would delete.
    let refused = try new.take(path)
    #expect(refused.lines == [.conflict(conflict)] && refused.outcome.deleted == 0)
    #expect(try text(refused).contains("--on-conflict replace would delete these"))
    let kept = try new.take(path, .keep)
    #expect(kept.lines == [.conflict(.init(item: Self.owned, differs: ["labl"]))])
    #expect(kept.outcome.deleted == 0)
    #expect(try !text(kept, "--on-conflict", "keep").contains("delete"))
    #expect(try names(new) == ["thread-network/home team-a"])

    let done = try new.take(path, .replace)
    #expect(done.lines == [.conflict(conflict)])
    #expect(done.outcome.deleted == 1 && done.outcome.imported)
    #expect(try text(done, "--on-conflict", "replace").contains("Deleted, which cannot stay"))
    #expect(try names(new) == ["thread-owner/home threadkeeper.internal"])
    var audit: [String] = []
    try new.keychain.forEachAuditRecord { audit = $0.lines.map(\.subject) }
    #expect(audit.last?.hasSuffix(", 1 deleted") == true, "\(audit)")
  }

  @Test(
    "A trial counts as the import itself does, also what is both in the way and replaced",
    arguments: [false, true])
  func counts(_ ownerComesFirst: Bool) throws {
    let items = [try credential("team-b"), owner("team-b")]
    try add(ownerComesFirst ? items.reversed() : items, to: old)
    try add([try credential("team-a")], to: new)
    let path = try old.export()
    let trial = try new.take(path, .replace, isTrial: true)
    let done = try new.take(path, .replace)
    #expect(done.outcome.imported && trial.lines == done.lines)
    #expect(done.outcome.deleted == (ownerComesFirst ? 1 : 0))
    #expect(trial.outcome.deleted == done.outcome.deleted)
    #expect(trial.outcome.replaced == done.outcome.replaced)
    #expect(trial.outcome.added == done.outcome.added)
    #expect(trial.outcome.conflicts == done.outcome.conflicts)
    #expect(
      try names(new) == [
        "thread-network/home team-b", "thread-owner/home threadkeeper.internal",
      ])
  }

  @Test("Every login that another one at the same broker replaces is named")
  func logins() throws {
    try add([login("anna")], to: old)
    try add([login("berta"), login("carla")], to: new)
    let taken = try new.take(try old.export(), .replace)
    #expect(taken.outcome.deleted == 2)
    let group = "(threadkeeper.internal)"
    #expect(
      Set(taken.lines.compactMap(\.conflict).flatMap(\.removes))
        == ["inet broker berta \(group)", "inet broker carla \(group)"])
    #expect(try names(new) == ["anna threadkeeper.internal"])
  }

  /// Two items of one export that no store has side by side.
  enum Contradiction: CaseIterable {
    case ownerFirst, ownerLast, logins, loginsHere
  }

  @Test(
    "An export that contradicts itself is refused with the record, whatever is to become of conflicts",
    arguments: Contradiction.allCases, ItemImport.OnConflict.allCases)
  func contradiction(
    _ contradiction: Contradiction, _ onConflict: ItemImport.OnConflict
  ) throws {
    let items: [NewItem]
    switch contradiction {
    case .ownerFirst: items = [owner("team-b"), try credential("team-a")]
    case .ownerLast: items = [try credential("team-a"), owner("team-b")]
    case .logins, .loginsHere: items = [login("anna"), login("berta")]
    }
    try add(items, to: old)
    // Also where one of them is here already.
    if contradiction == .loginsHere { try add([login("anna")], to: new) }
    let (path, before) = (try old.export(), try names(new))
    for isTrial in [true, false] {
      do {
        _ = try new.take(path, onConflict, isTrial: isTrial)
        Issue.record("it was imported")
      } catch let failure as CommandFailure {
        #expect(failure.status == .badInput, "\(failure)")
        #expect(failure.message.contains("is not imported: record 2 "), "\(failure)")
      }
    }
    #expect(try names(new) == before)
  }

  @Test("Logins at other brokers, and what a team has of its own router, contradict nothing")
  func noContradiction() throws {
    var other = login("berta")
    other.attributes[.port] = .integer(8883)
    var elsewhere = owner("team-a")
    elsewhere.attributes[.service] = .string("thread-owner/villa")
    try add(
      [login("anna"), other, owner("team-b"), try credential("team-b"), elsewhere], to: old)
    #expect(try new.take(try old.export()).outcome.added == 5)
  }

  @Test("A conflict as an earlier daemon names it is understood")
  func earlierDaemon() throws {
    let bytes = Data(#"{"item":"genp mail berta (own)","differs":["secret"]}"#.utf8)
    let read = try JSONDecoder().decode(ImportConflict.self, from: bytes)
    #expect(read == ImportConflict(item: "genp mail berta (own)", differs: ["secret"]))
  }
}
