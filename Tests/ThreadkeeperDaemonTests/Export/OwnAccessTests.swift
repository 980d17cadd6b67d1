// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import DaemonTestKit
import Foundation
import KeychainCore
import SealedEnvelope
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What a store has decided itself, and an import", .timeLimit(.minutes(30)))
struct OwnAccessTests {
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  @Test(
    "Keys that were only shown decide nothing: those of the export take their place, and it is said"
  )
  func shownKeys() throws {
    try old.fill()
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
    try old.fill()
    let path = try old.export()
    try new.showKeys()
    let keys = try new.keys()
    try new.enroll("lamp")
    try new.revoke("lamp")
    #expect(try new.clients().isEmpty)
    let outcome = try new.take(path, .replace).outcome
    #expect(
      outcome.stayedOut == MovedStore.all && !outcome.replacesKeys && outcome.takenOver.isEmpty)
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
      try DaemonIdentityStore(new.keychain).isUsed($0)
    }
    #expect(isUsed)
  }

  @Test("Keys that came only shown, and nothing with them, leave the next import its say")
  func cameAlone() throws {
    try old.showKeys()
    let first = try new.take(try old.export("first")).outcome
    #expect(first.added == 1 && first.takenOver == ["daemon_identity": 1])
    let keys = try #require(try old.keys())
    #expect(try new.keys() == keys && new.enrolments.identity?.keys == keys)
    let isDecided = try new.keychain.database.read { try OwnAccess.isDecided(new.enrolments, $0) }
    #expect(!isDecided)

    try old.fill()
    let path = try old.export("second")
    let trial = try new.take(path, isTrial: true).outcome
    let second = try new.take(path).outcome
    for outcome in [trial, second] {
      #expect(
        outcome.takenOver == ["daemon_identity": 1, "client_enrolment": 2, "consent_grant": 1])
      // They are the same keys, which have been used since.
      #expect(outcome.replaced == 1 && outcome.conflicts == 0 && !outcome.replacesKeys)
    }
    #expect(try new.clients() == ["hub", "router"] && new.grants() == ["login phone (team phone)"])
    #expect(try new.keys() == keys && new.enrolments.identity?.keys == keys)
    try new.revoke("router")
    #expect(try new.take(path, .replace).outcome.takenOver.isEmpty)
  }

  @Test("Other keys that came only shown give way as those do that were shown here")
  func othersCameAlone() throws {
    let third = try MovedStore()
    try third.showKeys()
    _ = try new.take(try third.export())
    try old.fill()
    #expect(try new.take(try old.export()).outcome.replacesKeys)
    #expect(try new.keys() == old.keys() && new.enrolments.identity?.keys == old.keys())
  }

  @Test("A refused enrolment leaves no keys, and decides nothing")
  func refusedEnrolment() throws {
    try new.showKeys()
    let keys = try #require(try new.keys())
    let work = EnrolmentService(
      settings: MovedStore.settings(new.store), enrolments: new.enrolments, actor: "a test")
    #expect(throws: CommandFailure.self) {
      try work.enroll(.init(home: "home", user: "hub", line: keys.line))
    }
    #expect(throws: CommandFailure.self) {
      try work.enroll(.init(home: "elsewhere", user: "hub", line: Identity().keys.line))
    }
    let isDecided = try new.keychain.database.read { try OwnAccess.isDecided(new.enrolments, $0) }
    #expect(!isDecided)
    _ = try work.enroll(.init(home: "home", user: "hub", line: try Identity().keys.line))
    let isDecidedNow = try new.keychain.database.read {
      try OwnAccess.isDecided(new.enrolments, $0)
    }
    #expect(isDecidedNow)
  }

  @Test("What was said to a program of this machine decides nothing about users of the broker")
  func localDecision() throws {
    try old.fill()
    try new.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    try new.revokeGrants()
    try new.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    #expect(try new.take(try old.export()).outcome.added == 4)
    #expect(
      try new.grants() == [
        #"uid 1000 (team user/uid-1000), program calls itself "homes""#, "login phone (team phone)",
      ])
  }

  /// What a store may have that cannot be read.
  enum Damage: CaseIterable {
    case consent, consentRow, history, enrolment, enrolmentRow
  }

  @Test("What cannot be read may have decided: then it has", arguments: Damage.allCases)
  func damaged(_ damage: Damage) throws {
    try old.fill()
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
      let added = try keychain.add(MovedStore.item(service, generic: Array("{}".utf8)), in: tx)
      guard damage == .consentRow || damage == .enrolmentRow else { return }
      try tx.execute(
        "UPDATE items SET metadata = zeroblob(length(metadata)) WHERE id = ?",
        .integer(added.rowID))
    }
    #expect(try isDecided())
    #expect(try new.take(path, .keep).outcome.takenOver.isEmpty)
    #expect(try new.keys() == nil && new.clients().isEmpty)
  }

  @Test("A question that nobody answered is no decision: the store is new still")
  func expired() throws {
    try old.fill()
    try new.ask("watch")
    _ = try new.keychain.database.write { try new.ledger.expire(now: .max, $0) }
    #expect(try new.history() == 1)
    #expect(try new.take(try old.export()).outcome.added == 4)
  }
}
