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
    #expect(trial.stayedOut == never && trial.added == 4 && !trial.imported)
    #expect(try new.keys() == nil)
    let (outcome, lines) = try new.take(path)
    #expect(outcome.stayedOut == never && outcome.added == 4 && outcome.imported)
    #expect(trial.takenOver == outcome.takenOver)
    #expect(
      outcome.takenOver == ["keeper_identity": 1, "client_enrolment": 2, "consent_grant": 1])
    #expect(
      lines.map(\.takenOver?.name)
        == [
          "hub, home home", "router, home home",
          "preferred/get home-thread (1111111122222222), home home to mqtt user phone",
        ])
    #expect(try new.clients() == ["hub", "router"] && new.grants() == ["mqtt user phone"])
    let keys = try #require(try old.keys())
    #expect(try new.keys() == keys && new.enrolments.identity?.keys == keys)
    #expect(try new.history() == 0)
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 4))
    // And what it has now is the same.
    let again = try new.take(path).outcome
    #expect(again.unchanged == 4 && again.stayedOut == never && again.takenOver.isEmpty)
  }

  @Test("What was revoked stays so after an older export of the store", arguments: [false, true])
  func revoked(_ replaces: Bool) throws {
    try fill()
    let path = try old.export()
    try old.revoke("router")
    try old.revokeGrants()
    let (outcome, lines) = try old.take(path, replaces ? .replace : .refuse)
    #expect(outcome.imported && outcome.added == 0 && outcome.replaced == 0)
    #expect(outcome.stayedOut == ["client_enrolment": 1, "consent_grant": 1])
    #expect(
      lines.map(\.stayedOut?.name)
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
      try OwnAccess.isDecided(old.enrolments, $0)
    }
    #expect(!isDecided)
    let outcome = try old.take(path).outcome
    #expect(outcome.stayedOut == Self.all && outcome.added == 0)
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
      outcome.stayedOut == [
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
    #expect(outcome.stayedOut == Self.all && outcome.replaced == 0 && outcome.added == 0)
    #expect(lines.compactMap(\.stayedOut?.what) == [.enrolment, .enrolment, .grant])
    #expect(try new.clients() == (hasKeys ? ["lamp"] : []) && new.grants().isEmpty)
    #expect(try new.keys() == keys && (keys != nil) == hasKeys)
  }

  @Test(
    "Keys that were only shown decide nothing: those of the export take their place, and it is said"
  )
  func shownKeys() throws {
    try fill()
    let path = try old.export()
    try new.showKeys()
    let shown = try #require(try new.keys())
    let trial = try new.take(path, isTrial: true).outcome
    #expect(trial.replacesKeys && trial.conflicts == 0 && trial.replaced == 1 && trial.added == 3)
    #expect(try new.keys() == shown)
    // Also for who keeps what is here: clients that come in seal to these keys.
    let outcome = try new.take(path, .keep).outcome
    #expect(outcome.replacesKeys && outcome.conflicts == 0 && outcome.replaced == 1)
    let keys = try old.keys()
    #expect(try new.keys() == keys && keys != shown && new.enrolments.identity?.keys == keys)
    #expect(try new.clients() == ["hub", "router"])
    let again = try new.take(path, .replace).outcome
    #expect(again.unchanged == 4 && !again.replacesKeys)
  }

  @Test("Keys that were only shown are in use once a client is enrolled, also when it is revoked")
  func usedKeys() throws {
    try fill()
    let path = try old.export()
    try new.showKeys()
    let keys = try new.keys()
    try new.enroll("lamp")
    try new.revoke("lamp")
    #expect(try new.clients().isEmpty)
    let outcome = try new.take(path, .replace).outcome
    #expect(outcome.stayedOut == Self.all && !outcome.replacesKeys && outcome.takenOver.isEmpty)
    #expect(try new.keys() == keys)
  }

  @Test("Keys that came only shown are in use where something was taken over with them")
  func cameShown() throws {
    try old.showKeys()
    try old.grant("phone")
    _ = try new.take(try old.export())
    #expect(try new.keys() == old.keys())
    try new.revokeGrants()
    let isUsed = try new.keychain.database.read {
      try KeeperIdentityStore(new.keychain).isUsed($0)
    }
    #expect(isUsed)
  }

  @Test("A refused enrolment leaves no keys, and decides nothing")
  func refusedEnrolment() throws {
    try new.showKeys()
    let keys = try #require(try new.keys())
    let work = ClientsWork(enrolments: new.enrolments, actor: "a test")
    #expect(throws: CommandFailure.self) {
      try work.answer(
        ClientsRequest(command: .enroll, home: "home", user: "hub", line: keys.line))
    }
    let isDecided = try new.keychain.database.read { try OwnAccess.isDecided(new.enrolments, $0) }
    #expect(!isDecided)
    _ = try work.answer(
      ClientsRequest(command: .enroll, home: "home", user: "hub", line: try Identity().keys.line))
    let isDecidedNow = try new.keychain.database.read {
      try OwnAccess.isDecided(new.enrolments, $0)
    }
    #expect(isDecidedNow)
  }

  @Test("What was said to a program of this machine decides nothing about users of the broker")
  func localDecision() throws {
    try fill()
    try new.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    try new.revokeGrants()
    try new.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    #expect(try new.take(try old.export()).outcome.added == 4)
    #expect(try new.grants() == ["uid 1000 (homes)", "mqtt user phone"])
  }

  /// What a store may have that cannot be read.
  enum Damage: CaseIterable {
    case consent, consentRow, history, enrolment, enrolmentRow
  }

  @Test("What cannot be read may have decided: then it has", arguments: Damage.allCases)
  func damaged(_ damage: Damage) throws {
    try fill()
    let path = try old.export()
    func isDecided() throws -> Bool {
      try new.keychain.database.read { try OwnAccess.isDecided(new.enrolments, $0) }
    }
    #expect(try !isDecided())
    let service =
      switch damage {
      case .consent, .consentRow: "thread-consent/grant"
      case .history: "thread-consent/history"
      case .enrolment, .enrolmentRow: "client-enrolment/home"
      }
    try new.keychain.database.write { [keychain = new.keychain] tx in
      let added = try keychain.add(item(service, generic: Array("{}".utf8)), in: tx)
      guard damage == .consentRow || damage == .enrolmentRow else { return }
      try tx.execute(
        "UPDATE items SET metadata = zeroblob(length(metadata)) WHERE id = ?",
        .integer(added.rowID))
    }
    #expect(try isDecided())
    #expect(try new.take(path, .keep).outcome.takenOver.isEmpty)
    #expect(try new.keys() == nil && new.clients().isEmpty)
  }

  @Test(
    "That a client is revoked comes to a new store; another one is warned of who is enrolled there")
  func revocations() throws {
    let client = try MovedStore.client("router", trust: .signed)
    for store in [old, new] {
      try store.keychain.database.write { tx in
        _ = try store.enrolments.useIdentity(tx)
        try store.enrolments.enroll(client, tx)
        try store.enrolments.enroll(MovedStore.client("lamp", trust: .signed), tx)
      }
    }
    try old.revoke("router")
    try old.revoke("lamp")
    let path = try old.export()
    let third = try MovedStore()
    let (first, names) = try third.take(path)
    #expect(first.takenOver == ["keeper_identity": 1, "client_revocation": 2])
    #expect(names.compactMap(\.takenOver?.what) == [.revocation, .revocation])
    let revoked = try third.keychain.database.read { try third.enrolments.all($0).clients }
    #expect(revoked.map(\.user) == ["lamp", "router"] && revoked.allSatisfy(\.isRevoked))
    let (outcome, lines) = try new.take(path, .replace)
    #expect(
      outcome.stayedOut == [
        "keeper_identity": 1, "client_revocation": 1, "client_revocation_enrolled_here": 1,
      ])
    #expect(lines.contains(.stayedOut(.init(what: .revocation, name: "lamp, home home"))))
    #expect(
      lines.contains(.stayedOut(.init(what: .revocationOfEnrolled, name: "router, home home"))))
    #expect(try new.clients() == ["lamp", "router"])
  }

  @Test("What stays out refuses nothing, whatever is wrong with it")
  func leftOutGarbage() throws {
    try old.enroll("hub")
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(item("client-enrolment/home", account: "garbage"), in: tx)
      _ = try keychain.add(item("client-role/home", account: "hub"), in: tx)
      _ = try keychain.add(
        item("thread-adoption/home", account: "no agent", accessible: .always), in: tx)
    }
    try new.enroll("own")
    let (outcome, lines) = try new.take(try old.export())
    #expect(outcome.imported && outcome.added == 0)
    #expect(
      outcome.stayedOut == [
        "keeper_identity": 1, "client_enrolment": 2, "unknown": 1, "router_adoption": 1,
      ])
    #expect(
      lines == [
        .stayedOut(.init(what: .enrolment, name: "hub, home home")),
        .stayedOut(.init(what: .unknown, name: "client-role/home hub")),
        .stayedOut(.init(what: .adoption, name: "thread-adoption/home no agent")),
      ])
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
    #expect(outcome.stayedOut == ["consent_grant_local": 1, "consent_history": 2])
    #expect(
      lines.compactMap(\.stayedOut?.name)
        == ["preferred/get home-thread (1111111122222222), home home to uid 1000 (homes)"])
    #expect(try new.grants() == ["mqtt user phone"])
  }

  @Test("What only a newer program knows of the keeper's own stays out")
  func unknown() throws {
    #expect(ImportedAccess(item("client-role/home")) == .unknown)
    var other = item("thread-preferred/home")
    #expect(ImportedAccess(other) == nil)
    other.itemClass = .key
    #expect(ImportedAccess(other) == .unknown)
    other = item("client-role/home")
    other.attributes[.accessGroup] = .string("own")
    #expect(ImportedAccess(other) == nil)
    other = item("broker.local")
    other.itemClass = .internetPassword
    #expect(ImportedAccess(other) == nil)
    try old.keychain.database.write { [keychain = old.keychain] tx in
      _ = try keychain.add(item("client-role/home"), in: tx)
    }
    let outcome = try new.take(try old.export()).outcome
    #expect(outcome.stayedOut == ["unknown": 1] && outcome.imported)
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 0))
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
    // A mark on the slash makes another letter of it, and no other service: it is of the home's name.
    let marked = item("client-enrolment/\u{301}home", good)
    #expect(ImportedAccess.objection(to: marked) == nil)
    #expect(ImportedAccess.home(of: marked).map { Array($0.utf8) } == Array("\u{301}home".utf8))
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
