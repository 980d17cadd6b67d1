// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import Foundation
import KeychainCore
import SealedEnvelope
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperCommands

@Suite("Who may have what is in a store, and an import", .timeLimit(.minutes(1)))
struct ImportedAccessTests {
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  /// Two clients, a consent, one that waits, and what was said to them.
  private func fill() throws {
    try old.enroll("hub", "router")
    try old.grant("phone")
    try old.ask("tablet")
  }

  private static let all = [
    "keeper_identity": 1, "client_enrolment": 2, "consent_grant": 1, "consent_pending": 1,
    "consent_history": 1,
  ]

  @Test("A new store takes enrolments, consents and the keeper's keys; nothing else of it")
  func newStore() throws {
    try fill()
    let path = try old.export()
    let never = ["consent_pending": 1, "consent_history": 1]
    let trial = try new.take(path, isTrial: true).outcome
    #expect(trial.leftOut == never && trial.added == 4 && !trial.imported)
    #expect(try new.keys() == nil)
    let (outcome, lines) = try new.take(path)
    #expect(outcome.leftOut == never && outcome.added == 4 && outcome.imported)
    #expect(lines.isEmpty)
    #expect(try new.clients() == ["hub", "router"] && new.grants() == ["mqtt user phone"])
    let keys = try #require(try old.keys())
    #expect(try new.keys() == keys && new.enrolments.identity?.keys == keys)
    #expect(try new.history() == 0)
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 4))
    // And what it has now is the same.
    let again = try new.take(path).outcome
    #expect(again.unchanged == 4 && again.leftOut == never)
  }

  @Test("What was revoked stays so after an older export of the store", arguments: [false, true])
  func revoked(_ replaces: Bool) throws {
    try fill()
    let path = try old.export()
    try old.revoke("router")
    try old.revokeGrants()
    let (outcome, lines) = try old.take(path, replaces ? .replace : .refuse)
    #expect(outcome.imported && outcome.added == 0 && outcome.replaced == 0)
    #expect(outcome.leftOut == ["client_enrolment": 1, "consent_grant": 1])
    #expect(
      lines.map(\.leftOut?.name)
        == [
          "router, home home",
          "preferred/get home-thread (1111111122222222), home home to mqtt user phone",
        ])
    #expect(try old.clients() == ["hub"] && old.grants().isEmpty)
  }

  @Test("An export of this very store brings none of it back, whatever the store has lost since")
  func lost() throws {
    try fill()
    let path = try old.export()
    try old.keychain.database.write { [keychain = old.keychain] tx in
      for item in try keychain.items(matching: ItemQuery(), in: tx) {
        try keychain.delete(item, in: tx)
      }
    }
    let isDecided = try old.keychain.database.read {
      try ImportedAccess.isDecided(in: old.keychain, $0)
    }
    #expect(!isDecided)
    let outcome = try old.take(path).outcome
    #expect(outcome.leftOut == Self.all && outcome.added == 0)
    #expect(try old.keys() == nil)
  }

  @Test("What was taken over and revoked since does not come back by the same export")
  func takenOver() throws {
    try fill()
    let path = try old.export()
    _ = try new.take(path)
    try new.revoke("router")
    try new.revokeGrants()
    let outcome = try new.take(path, .replace).outcome
    #expect(
      outcome.leftOut == [
        "client_enrolment": 1, "consent_grant": 1, "consent_pending": 1, "consent_history": 1,
      ])
    #expect(try new.clients() == ["hub"] && new.grants().isEmpty)
  }

  @Test("A store with keys, or decisions, of its own keeps them", arguments: [false, true])
  func own(_ hasKeys: Bool) throws {
    try fill()
    let path = try old.export()
    if hasKeys {
      try new.enroll("lamp")
    } else {
      try new.grant("watch")
      try new.revokeGrants()
    }
    let keys = try new.keys()
    let (outcome, lines) = try new.take(path, .replace)
    #expect(outcome.leftOut == Self.all && outcome.replaced == 0 && outcome.added == 0)
    #expect(lines.compactMap(\.leftOut?.what) == [.enrolment, .enrolment, .grant])
    #expect(try new.clients() == (hasKeys ? ["lamp"] : []) && new.grants().isEmpty)
    #expect(try new.keys() == keys && (keys != nil) == hasKeys)
  }

  @Test("A question that nobody answered is no decision: the store is new still")
  func expired() throws {
    try fill()
    try new.ask("watch")
    _ = try new.keychain.database.write { try new.ledger.expire(now: .max, $0) }
    #expect(try new.history() == 1)
    #expect(try new.take(try old.export()).outcome.added == 4)
  }

  @Test("A consent for a user of the machine stays there: the number is somebody else's elsewhere")
  func localUser() throws {
    try old.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    try old.grant("phone")
    let (outcome, lines) = try new.take(try old.export())
    #expect(outcome.leftOut == ["consent_grant_local": 1, "consent_history": 2])
    #expect(
      lines.map(\.leftOut?.name)
        == ["preferred/get home-thread (1111111122222222), home home to uid 1000 (homes)"])
    #expect(try new.grants() == ["mqtt user phone"])
  }

  @Test("What only a newer program knows of the keeper's own is refused")
  func unknown() {
    #expect(ImportedAccess.objection(to: item("client-role/home")) != nil)
    var other = item("client-role/home")
    other.attributes[.accessGroup] = .string("own")
    #expect(ImportedAccess.objection(to: other) == nil)
    #expect(ImportedAccess.objection(to: item("thread-preferred/home")) == nil)
    other = item("broker.local")
    other.itemClass = .internetPassword
    #expect(ImportedAccess.objection(to: other) == nil)
  }

  @Test("Who takes over consents without the keys has keys from then on")
  func keysAreMade() throws {
    try old.grant("phone")
    let path = try old.export()
    #expect(try new.take(path).outcome.added == 1)
    #expect(try new.keys() != nil && old.keys() == nil)
  }

  @Test("A keeper that has looked for a client knows it once it is imported; and not before")
  func cache() throws {
    try fill()
    let path = try old.export()
    func known() throws -> PublicIdentity? {
      try new.keychain.database.write {
        try new.enrolments.remembered("router", in: "home", $0)?.keys
      }
    }
    #expect(try known() == nil)
    _ = try new.take(path, isTrial: true)
    #expect(try known() == nil)
    _ = try new.take(path)
    #expect(try known() != nil)
  }

  @Test("Homes that wait for the settings are told of clients that come in only")
  func homes() throws {
    try old.enroll("hub")
    try old.keychain.database.write { tx in
      _ = try old.enrolments.enroll(MovedStore.client("lamp", in: "villa"), tx)
    }
    let path = try old.export()
    #expect(try new.take(path, isTrial: true).outcome.unknownHomes == ["villa"])
    try new.enroll("own")
    #expect(try new.take(path, isTrial: true).outcome.unknownHomes.isEmpty)
  }

  // MARK: Garbage

  private func item(
    _ service: String, account: String = "router",
    _ secret: [UInt8] = [UInt8](repeating: 7, count: 64),
    generic: [UInt8]? = nil, accessible: Accessibility = .afterFirstUnlock
  ) -> NewItem {
    var item = NewItem(
      .genericPassword,
      attributes: [
        .service: .string(service), .account: .string(account),
        .accessGroup: .string("threadkeeper.internal"),
      ], secret: SecretBytes(copying: secret), accessible: accessible)
    if let generic { item.attributes[.generic] = .data(generic) }
    return item
  }

  private func enrolment(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> [UInt8] {
    var record: [String: Any] = [
      "v": 1, "line": try Identity().keys.line, "trust": "signed", "enrolled_at": 1_800_000_000,
      "enrolled_by": "a test",
    ]
    change(&record)
    return [UInt8](try JSONSerialization.data(withJSONObject: record))
  }

  @Test("Enrolments that are none are refused")
  func enrolments() throws {
    func objection(
      _ secret: [UInt8], service: String = "client-enrolment/home", account: String = "router",
      accessible: Accessibility = .afterFirstUnlock
    ) -> String? {
      ImportedAccess.objection(
        to: item(service, account: account, secret, accessible: accessible))
    }
    let good = try enrolment()
    #expect(objection(good) == nil)
    #expect(try objection(enrolment { $0["v"] = 2 }) == nil)
    #expect(try objection(enrolment { $0["v"] = 3 }) != nil)
    #expect(try objection(enrolment { $0["trust"] = "blind" }) != nil)
    #expect(try objection(enrolment { $0["line"] = "tk1:x:00000000" }) != nil)
    #expect(try objection(enrolment { $0["enrolled_by"] = nil }) != nil)
    #expect(objection([]) != nil && objection(Array("{}".utf8)) != nil)
    #expect(objection(good, service: "client-enrolment/") != nil)
    // A mark on the slash makes another letter of it, and no other service.
    #expect(objection([], service: "client-enrolment/\u{301}home") != nil)
    for account in ["", "a/b", "a\nb"] { #expect(objection(good, account: account) != nil) }
    #expect(objection(good, accessible: .always) != nil)
  }

  @Test("A consent that nobody could take back is refused")
  func grantIDs() throws {
    try old.grant("phone")
    let grant = try #require(try old.keychain.database.read { try old.ledger.grants($0) }.first)
    let octets = [UInt8](try JSONEncoder().encode(grant))
    func objection(_ account: String, _ octets: [UInt8]) -> String? {
      ImportedAccess.objection(
        to: item("thread-consent/grant", account: account, [], generic: octets))
    }
    let id = grant.id.description
    #expect(objection(id, octets) == nil)
    #expect(objection("g-0000000000000000", octets) != nil)
    let text = String(decoding: octets, as: UTF8.self)
    for other in ["forever", "c-0000000000000000"] {
      let renamed = Array(text.replacingOccurrences(of: id, with: other).utf8)
      #expect(objection(other, renamed) != nil)
    }
  }

  @Test("Garbage is refused before anything is written")
  func nothingIsWritten() throws {
    try old.enroll("hub")
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(item("client-enrolment/home", account: "garbage"), in: tx)
    }
    let path = try old.export()
    do {
      _ = try new.take(path)
      Issue.record("it was imported")
    } catch let failure as CommandFailure {
      #expect(failure.status == .badInput)
      #expect(failure.message.contains("record 3 has an enrolment that is none"))
    }
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 0))
  }
}
