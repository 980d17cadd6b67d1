// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import TestKit
import Testing

@testable import ClientEnrolment

@Suite("Enrolled clients as keychain items")
struct ClientEnrolmentStoreTests {
  private let store: TemporaryStore
  private var keychain: Keychain { store.keychain }

  init() throws {
    var options = KeychainOptions()
    options.auditor = "test"
    store = try TemporaryStore(options: options)
  }

  private func client(
    _ user: String, in home: String = "home", trust: EnrolledClient.Trust = .broker,
    keys: PublicIdentity? = nil
  ) throws -> EnrolledClient {
    EnrolledClient(
      home: home, user: user, keys: try keys ?? Identity().keys, trust: trust, label: "Living room",
      enrolledAt: 1_800_000_000, enrolledBy: "command of user 0")
  }

  @Test("What is enrolled is found, of this home only, and after reopening")
  func enrolled() throws {
    let one = try client("router", trust: .signed)
    let enrolments = ClientEnrolmentStore(keychain)
    #expect(try keychain.database.write { try enrolments.enroll(one, $0) } == .enrolled)
    try store.reopen()
    let again = ClientEnrolmentStore(keychain)
    try keychain.database.read { tx in
      let found = try #require(try again.client("router", in: "home", tx))
      #expect(found.keys == one.keys)
      #expect(found.trust == .signed)
      #expect(found.label == "Living room")
      #expect(found.enrolledAt == 1_800_000_000)
      #expect(found.enrolledBy == "command of user 0")
      #expect(try again.client("router", in: "cabin", tx) == nil)
      #expect(try again.client("other", in: "home", tx) == nil)
    }
  }

  @Test("Keys that were not committed are none")
  func rolledBackIdentity() throws {
    struct Undone: Error {}
    let enrolments = ClientEnrolmentStore(keychain)
    var undone: Identity?
    #expect(throws: Undone.self) {
      try keychain.database.write { tx in
        undone = try enrolments.makeIdentity(tx)
        throw Undone()
      }
    }
    #expect(undone != nil && enrolments.identity == nil)
    let made = try keychain.database.write { try enrolments.makeIdentity($0) }
    #expect(enrolments.identity?.keys == made.keys)
    #expect(made.keys != undone?.keys)
  }

  @Test("Names are bytes: two that only look the same are two")
  func bytes() throws {
    let enrolments = ClientEnrolmentStore(keychain)
    try keychain.database.write { tx in
      try enrolments.enroll(client("caf\u{E9}"), tx)
      #expect(try enrolments.remembered("cafe\u{301}", in: "home", tx) == nil)
      #expect(try enrolments.remembered("caf\u{E9}", in: "home", tx) != nil)
      #expect(try enrolments.remembered("cafe\u{301}", in: "home", tx) == nil)
    }
  }

  @Test("A second enrolment replaces the first, and both are in the list by home and name")
  func replaced() throws {
    let enrolments = ClientEnrolmentStore(keychain)
    let new = try Identity().keys
    try keychain.database.write { tx in
      try enrolments.enroll(client("b"), tx)
      try enrolments.enroll(client("a", in: "cabin"), tx)
      #expect(try enrolments.enroll(client("b", trust: .signed, keys: new), tx) == .updated)
    }
    let (all, damaged) = try keychain.database.read { try enrolments.all($0) }
    #expect(all.map(\.user) == ["a", "b"])
    #expect(all.last?.keys == new)
    #expect(damaged == [])
    #expect(try keychain.database.read { try enrolments.all(in: "home", $0).clients.count } == 1)
  }

  @Test("What is remembered changes with the store: enrol and revoke count at once")
  func remembered() throws {
    let enrolments = ClientEnrolmentStore(keychain)
    func known() throws -> PublicIdentity? {
      try keychain.database.write { try enrolments.remembered("router", in: "home", $0)?.keys }
    }
    #expect(try known() == nil)
    let one = try client("router")
    try keychain.database.write { try enrolments.enroll(one, $0) }
    #expect(try known() == one.keys)
    // A revocation that is rolled back is none.
    struct Stop: Error {}
    #expect(throws: (any Error).self) {
      try keychain.database.write { tx in
        #expect(try enrolments.revoke("router", in: "home", tx))
        throw Stop()
      }
    }
    #expect(try known() == one.keys)
    #expect(try keychain.database.write { try enrolments.revoke("router", in: "home", $0) })
    #expect(try known() == nil)
    #expect(try !keychain.database.write { try enrolments.revoke("router", in: "home", $0) })
  }

  @Test("Who is enrolled is in the audit, with the user's name")
  func audited() throws {
    let enrolments = ClientEnrolmentStore(keychain)
    try keychain.database.write { try enrolments.enroll(client("router"), $0) }
    try keychain.database.write { _ = try enrolments.revoke("router", in: "home", $0) }
    var lines: [String] = []
    try keychain.forEachAuditRecord { lines += $0.lines.map { "\($0.action) \($0.subject)" } }
    #expect(
      lines.count == 2
        && lines.allSatisfy { $0.contains("client-enrolment/home") && $0.contains("router") })
  }

  @Test("The daemon's keys are made once")
  func daemon() throws {
    let identities = DaemonIdentityStore(keychain)
    #expect(try keychain.database.read { try identities.find($0) } == nil)
    let made = try keychain.database.write { try identities.findOrMake($0) }
    #expect(try keychain.database.write { try identities.findOrMake($0) }.keys == made.keys)
    try store.reopen()
    let again = DaemonIdentityStore(keychain)
    #expect(try keychain.database.read { try again.find($0) }?.keys == made.keys)
  }
}
