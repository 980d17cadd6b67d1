// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@testable import ConsentLedger

@Suite("Grants are bound to the network key")
struct NetworkKeyConsentTests {
  private let ledger: Ledger
  private let rotated = ConsentSubject.subject(
    "preferred/get", .sample("1111111122222222", "home-thread", key: "0ddba11"))

  init() throws { ledger = try Ledger() }

  @Test("After a key change the request needs approval again, and its reason names the change")
  func changed() throws {
    try ledger.approve(ledger.pend().id.description, .always)
    #expect(try ledger.isGranted())
    #expect(try !ledger.isGranted(.phone, rotated))
    let asked = try ledger.pend(.phone, rotated)
    #expect(
      asked.reason(namingHome: false).hasSuffix(
        "has changed since \"always\" was approved for this"))
    #expect(try !ledger.pend(.tablet, rotated).reason(namingHome: false).contains("has changed"))
  }

  @Test("Approving `always` for a new key replaces the earlier grant and records its revocation")
  func replaced() throws {
    let first = try ledger.approve(ledger.pend().id.description, .always).record.grant
    ledger.pass(1)
    let second = try ledger.approve(ledger.pend(.phone, rotated).id.description, .always).record
      .grant
    #expect(try ledger.grants().map(\.id) == [try #require(second)])
    #expect(try ledger.isGranted(.phone, rotated) && !ledger.isGranted())
    let revoked = try ledger.history().filter { $0.outcome == .revoked }
    #expect(revoked.map(\.id) == [try #require(first)])
  }

  @Test("A request for a changed key does not join the pending request for the earlier key")
  func pending() throws {
    #expect(try ledger.pend().id != ledger.pend(.phone, rotated).id)
  }

  @Test("A grant of an earlier version, without a key, covers nothing and is replaced")
  func migrated() throws {
    let old = ConsentGrant(
      id: .make(.grant), requester: .phone,
      subject: .subject(
        "preferred/get", .sample("1111111122222222", "home-thread", key: nil)),
      created: 0, grantedBy: "mqtt user anna")
    try ledger.store.keychain.database.write {
      try ledger.ledger.grantItems.add(old, as: old.id, $0)
    }
    let asked = try ledger.pend()
    #expect(asked.keyHasChanged == true)
    let grant = try ledger.approve(asked.id.description, .always).record.grant
    #expect(try ledger.grants().map(\.id) == [try #require(grant)])
    #expect(try ledger.isGranted())
  }
}
