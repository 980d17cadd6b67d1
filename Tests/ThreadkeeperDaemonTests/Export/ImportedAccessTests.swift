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

@Suite("Who may have what is in a store, and an import", .timeLimit(.minutes(30)))
struct ImportedAccessTests {
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  @Test("A new store takes enrolments, consents and the daemon's keys; nothing else of it")
  func newStore() throws {
    try old.fill()
    let path = try old.export()
    let never = ["consent_pending": 1, "consent_history": 1]
    let trial = try new.take(path, isTrial: true).outcome
    #expect(trial.stayedOut == never && trial.added == 4 && !trial.imported)
    #expect(try new.keys() == nil)
    let (outcome, lines) = try new.take(path)
    #expect(outcome.stayedOut == never && outcome.added == 4 && outcome.imported)
    #expect(trial.takenOver == outcome.takenOver)
    #expect(
      outcome.takenOver == ["daemon_identity": 1, "client_enrolment": 2, "consent_grant": 1])
    #expect(
      lines.map(\.takenOver?.name)
        == [
          "hub, home home", "router, home home",
          #"preferred/get "home-thread" (1111111122222222), home home to login phone (team phone)"#,
        ])
    #expect(try new.clients() == ["hub", "router"] && new.grants() == ["login phone (team phone)"])
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
    try old.fill()
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
          #"preferred/get "home-thread" (1111111122222222), home home to login phone (team phone)"#,
        ])
    #expect(try old.clients() == ["hub"] && old.grants().isEmpty)
  }

  @Test("An export of this very store brings none of it back, whatever the store has lost since")
  func lost() throws {
    try old.fill()
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
    #expect(outcome.stayedOut == MovedStore.all && outcome.added == 0)
    #expect(try old.keys() == nil)
  }

  @Test("What was taken over and revoked since does not come back by the same export")
  func takenOver() throws {
    try old.fill()
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
    try old.fill()
    let path = try old.export()
    if hasKeys {
      try new.enroll("lamp")
    } else {
      try new.grant("watch")
      try new.revokeGrants()
    }
    let keys = try new.keys()
    let (outcome, lines) = try new.take(path, .replace)
    #expect(outcome.stayedOut == MovedStore.all && outcome.replaced == 0 && outcome.added == 0)
    #expect(lines.compactMap(\.stayedOut?.what) == [.enrolment, .enrolment, .grant])
    #expect(try new.clients() == (hasKeys ? ["lamp"] : []) && new.grants().isEmpty)
    #expect(try new.keys() == keys && (keys != nil) == hasKeys)
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
    #expect(first.takenOver == ["daemon_identity": 1, "client_revocation": 2])
    #expect(names.compactMap(\.takenOver?.what) == [.revocation, .revocation])
    let revoked = try third.keychain.database.read { try third.enrolments.all($0).clients }
    #expect(revoked.map(\.user) == ["lamp", "router"] && revoked.allSatisfy(\.isRevoked))
    let (outcome, lines) = try new.take(path, .replace)
    #expect(
      outcome.stayedOut == [
        "daemon_identity": 1, "client_revocation": 1, "client_revocation_enrolled_here": 1,
      ])
    #expect(lines.contains(.stayedOut(.init(what: .revocation, name: "lamp, home home"))))
    #expect(
      lines.contains(.stayedOut(.init(what: .revocationOfEnrolled, name: "router, home home"))))
    #expect(try new.clients() == ["lamp", "router"])
  }

  @Test("A consent for a user of the machine stays there: the number is somebody else's elsewhere")
  func localUser() throws {
    try old.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    try old.grant("phone")
    let (outcome, lines) = try new.take(try old.export())
    #expect(outcome.stayedOut == ["consent_grant_local": 1, "consent_history": 2])
    #expect(
      lines.compactMap(\.stayedOut?.name)
        == [
          #"preferred/get "home-thread" (1111111122222222), home home to uid 1000 (team user/uid-1000), program calls itself "homes""#
        ])
    #expect(try new.grants() == ["login phone (team phone)"])
  }

  @Test("Who takes over consents without the keys has keys from then on")
  func keysAreMade() throws {
    try old.grant("phone")
    let path = try old.export()
    #expect(try new.take(path).outcome.added == 1)
    #expect(try new.keys() != nil && old.keys() == nil)
  }

  @Test("A daemon that has looked for a client knows it once it is imported; and not before")
  func cache() throws {
    try old.fill()
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
}
