// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Foundation
import KeychainCore
import TestKit
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Credentials of a router that belonged to another team, and an import")
struct ImportRivalTests {
  private static let router = "a1b2c3d4e5f60718"
  private static let owned = "genp thread-owner/home \(router) (threadkeeper.internal)"
  private static let theirs = "genp thread-network/home \(router) (team-b)"
  private let (old, new): (MovedStore, MovedStore)
  private let path: String

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
    var credential = MovedStore.item(
      "thread-network/home", account: Self.router, try SampleNetwork.home.dataset(at: 1).bytes)
    credential.attributes[.accessGroup] = .string("team-b")
    var owner = MovedStore.item("thread-owner/home", account: Self.router, [])
    owner.attributes[.label] = .string("team-a")
    for (store, item) in [(old, credential), (new, owner)] {
      try store.keychain.database.write { [keychain = store.keychain] in
        _ = try keychain.add(item, in: $0)
      }
    }
    path = try old.export()
  }

  private func services() throws -> [String?] {
    try new.keychain.database.read { tx in
      try new.keychain.items(matching: ItemQuery(), in: tx).map { $0[.service]?.string }
    }
  }

  /// What the command prints, and what it was made from.
  private func take(
    _ onConflict: ItemImport.OnConflict, isTrial: Bool = false
  ) throws -> (outcome: ImportOutcome, names: [ImportedName], text: String) {
    let (outcome, names) = try new.take(
      path, onConflict, isTrial: isTrial, credentialsOnly: true)
    let command = try StoreImportCommand.parse(
      ["file", "--credentials-only", "--on-conflict", onConflict.rawValue]
        + (isTrial ? ["--dry-run"] : []))
    return (outcome, names, command.text(.init(outcome, names, dryRun: isTrial)))
  }

  @Test("What replace deletes is named and counted, and by a trial before it goes")
  func deleted() throws {
    let conflict = ImportedName(
      conflict: .init(item: Self.theirs, differs: ["agrp"], removes: [Self.owned]))
    let trial = try take(.replace, isTrial: true)
    #expect(trial.names == [conflict])
    #expect(trial.outcome.deleted == 1 && trial.outcome.replaced == 1)
    #expect(trial.text.contains("Would be deleted, which give a border router to another team:"))
    #expect(trial.text.contains("\n  \(Self.owned)\n"), "\(trial.text)")
    #expect(trial.text.contains("already here, 1 deleted"), "\(trial.text)")
    #expect(try services() == ["thread-owner/home"])

    let done = try take(.replace)
    #expect(done.names == [conflict] && done.outcome.deleted == 1 && done.outcome.imported)
    #expect(done.text.contains("Deleted, which give"))
    #expect(try services() == ["thread-network/home"])
    var audit: [String] = []
    try new.keychain.forEachAuditRecord { audit = $0.lines.map(\.subject) }
    #expect(audit.last?.hasSuffix(", 1 deleted") == true, "\(audit)")
  }

  @Test("Who has not decided sees what replace would delete, and keep deletes nothing")
  func kept() throws {
    let refused = try take(.refuse)
    #expect(refused.names.first?.conflict?.removes == [Self.owned] && !refused.outcome.imported)
    #expect(refused.text.contains("--on-conflict replace would delete these"))
    let kept = try take(.keep)
    #expect(kept.names.first?.conflict?.removes == [] && kept.outcome.deleted == 0)
    #expect(kept.outcome.kept == 1 && !kept.text.contains("delete"))
    #expect(try services() == ["thread-owner/home"])
  }
}
