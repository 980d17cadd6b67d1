// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import ConsentLedger

@Suite("Consent requests about a border router")
struct RouterConsentTests {
  private let ledger: Ledger

  init() throws { ledger = try Ledger() }

  private func subject(_ agent: String, name: String? = "Living room") throws -> ConsentSubject {
    ConsentSubject(
      home: "home", command: "dataset/set", networks: [.home],
      router: ConsentRouter(
        agent: try #require(BorderAgentID(hex: agent)), name: name, networkName: "guest-thread"))
  }

  private static let living = "a1b2c3d4e5f60718"
  private static let attic = "deadbeefcafe0042"

  @Test("The reason names the router, its network, the network to join and the recipient")
  func reason() throws {
    let asked = try ledger.pend(.phone, subject(Self.living))
    #expect(
      asked.reason(namingHome: false).hasPrefix(
        #"a1b2c3d4e5f60718 "Living room" is on "guest-thread"; give it the credentials of "#
          + #""home-thread"? login phone (team phone) would get the network key of "#))
    let nameless = try ledger.pend(.tablet, subject(Self.living, name: " "))
    #expect(
      nameless.reason(namingHome: false).hasPrefix(#"a1b2c3d4e5f60718 is on "guest-thread"; "#))
  }

  @Test("A request joins the pending one about the same router, not one about another router")
  func questions() throws {
    let first = try ledger.pend(.phone, subject(Self.living))
    #expect(try ledger.pend(.phone, subject(Self.living, name: "Other")).id == first.id)
    #expect(try ledger.pend(.phone, subject(Self.attic)).id != first.id)
    #expect(try ledger.pending().first?.subject.router == first.subject.router)
  }

  @Test("An `always` grant covers all routers of its requester, and no other command")
  func always() throws {
    let id = try ledger.pend(.phone, subject(Self.living)).id.description
    try ledger.approve(id, .always)
    #expect(try ledger.grants().map(\.subject.router) == [nil])
    #expect(try ledger.isGranted(.phone, subject(Self.attic)))
    #expect(try !ledger.isGranted(.tablet, subject(Self.living)))
    #expect(try !ledger.isGranted(.phone, .preferred))
  }

  @Test("A withdrawn request cannot be approved, expires, and can be asked again")
  func withdraw() throws {
    let first = try ledger.pend(.phone, subject(Self.living)).id
    try ledger.store.keychain.database.write {
      try ledger.ledger.withdraw(first.description, now: ledger.now, $0)
    }
    #expect(try ledger.pending().isEmpty)
    #expect(throws: ConsentRefusal.self) { try ledger.approve(first.description) }
    #expect(try ledger.pend(.phone, subject(Self.living)).id != first)
    #expect(try ledger.expire().map(\.record.id) == [first])
  }
}
