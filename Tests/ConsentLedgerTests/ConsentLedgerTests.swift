// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing
import ThreadRequests

@testable import ConsentLedger

@Suite("Consent ledger: requests, decisions and grants")
struct ConsentLedgerTests {
  private let ledger: Ledger

  init() throws { ledger = try Ledger() }

  @Test("A pending request keeps its requester, subject, time limit and reply address")
  func pending() throws {
    let asked = try ledger.pend(.app, .subject("network/get", .guest), transaction: "r-17")
    let found = try #require(try ledger.pending().first)
    #expect(found == asked)
    #expect(ConsentID(found.id.description, .request) == found.id)
    #expect(
      found.requester.description.hasPrefix("uid 1000 (team user/uid-1000), ")
        && found.requester == .app)
    #expect(found.subject.networks == [.guest] && found.subject.command == "network/get")
    #expect(found.created == ledger.now && found.expires == ledger.now + 120_000)
    #expect(found.replies == [.sample("r-17")])
  }

  @Test(
    "A request approved once is recorded with its replies, and the next one needs approval again")
  func approvedOnce() throws {
    let asked = try ledger.pend(transaction: "r-17")
    ledger.pass(5)
    let ended = try ledger.approve(asked.id.description)
    #expect(ended.replies == asked.replies)
    #expect(ended.record.outcome == .approved && ended.record.scope == .once)
    #expect(ended.record.decidedBy == "mqtt user anna")
    #expect(ended.record.decided == ledger.now)
    #expect(try ledger.pending().isEmpty && ledger.grants().isEmpty)
    #expect(try ledger.history() == [ended.record])
    guard case .pending(let next, isNew: true) = try ledger.ask() else {
      Issue.record("it is not asked about again")
      return
    }
    #expect(next.id != asked.id)
  }

  @Test("After an `always` approval the same request is granted, and a different one is not")
  func approvedAlways() throws {
    let ended = try ledger.approve(ledger.pend().id.description, .always)
    let grant = try #require(try ledger.grants().first)
    #expect(ended.record.grant == grant.id && grant.grantedBy == "mqtt user anna")
    guard case .granted(let found) = try ledger.ask() else {
      Issue.record("it is asked about again")
      return
    }
    #expect(found == grant)
    #expect(try ledger.pending().isEmpty)
    let others: [(ConsentRequester, ConsentSubject)] = [
      (.tablet, .preferred), (.phone, .subject("preferred/get", .guest)),
      (.phone, .subject("network/get", .home)),
      (.phone, .subject("preferred/get", home: "cabin", .home)),
      (ConsentRequester(.mqttUser("phone"), team: "other"), .preferred),
    ]
    for (requester, subject) in others {
      #expect(try !ledger.isGranted(requester, subject), "\(requester) \(subject)")
    }
  }

  @Test("A denied request is recorded, and refused again until its 120 seconds are over")
  func denied() throws {
    let asked = try ledger.pend(transaction: "r-17")
    let ended = try ledger.deny(asked.id.description)
    #expect(ended.record.outcome == .denied && ended.replies == asked.replies)
    #expect(try ledger.pending().isEmpty)
    ledger.pass(119)
    #expect(throws: ConsentRefusal.self) { try ledger.ask() }
    #expect(try ledger.history() == [ended.record])
    ledger.pass(1)
    #expect(try ledger.expire().isEmpty, "a denied request is not reported as expired")
    #expect(try ledger.pend().id != asked.id)
  }

  @Test("A denied request leaves other requests and other requesters unaffected")
  func denialIsOfOneQuestion() throws {
    try ledger.deny(ledger.pend().id.description)
    let refusal = #expect(throws: ConsentRefusal.self) { try ledger.ask() }
    #expect(refusal?.code == .denied)
    #expect(try ledger.pend(.phone, .subject("network/get", .guest)).isDenied == false)
    #expect(try ledger.pend(.tablet).isDenied == false)
  }

  @Test("A request without a decision expires after 120 seconds and is reported once")
  func expired() throws {
    let asked = try ledger.pend(transaction: "r-17")
    ledger.pass(119)
    #expect(try ledger.expire().isEmpty && ledger.pending().count == 1)
    ledger.pass(1)
    #expect(try ledger.pending().isEmpty, "also before a tick has seen it")
    let expired = try ledger.expire()
    #expect(expired.map(\.record.id) == [asked.id])
    #expect(expired.first?.record.outcome == .expired && expired.first?.record.decidedBy == nil)
    #expect(expired.first?.replies == asked.replies)
    #expect(try ledger.expire().isEmpty)
    #expect(try ledger.history().map(\.outcome) == [.expired])
  }

  @Test("A revoked grant covers nothing, and revoking it again is `notFound`")
  func revoked() throws {
    try ledger.approve(ledger.pend().id.description, .always)
    let grant = try #require(try ledger.grants().first)
    #expect(try ledger.revoke(grant.id.description) == grant)
    #expect(try ledger.grants().isEmpty && !ledger.isGranted())
    #expect(try ledger.history().map(\.outcome) == [.revoked, .approved])
    for id in [grant.id.description, "g-0000000000000000", "c-1", ""] {
      let refusal = #expect(throws: ConsentRefusal.self) { try ledger.revoke(id) }
      #expect(refusal?.code == .notFound)
    }
  }

  @Test("Pending requests, grants and the history are unchanged after a restart")
  func restart() throws {
    let ended = try ledger.approve(ledger.pend(.tablet).id.description, .always)
    let asked = try ledger.pend(transaction: "r-17")
    try ledger.store.reopen()
    #expect(try ledger.pending() == [asked])
    #expect(try ledger.isGranted(.tablet))
    #expect(try ledger.history() == [ended.record])
    let later = try ledger.approve(asked.id.description)
    #expect(later.replies == [.sample("r-17")])
  }

  @Test("A restart neither extends the wait of a request nor ends a denial early")
  func restartKeepsTime() throws {
    let denied = try ledger.pend(.tablet)
    try ledger.deny(denied.id.description)
    try ledger.pend(.phone)
    try ledger.store.reopen()
    #expect(throws: ConsentRefusal.self) { try ledger.ask(.tablet) }
    ledger.pass(120)
    try ledger.store.reopen()
    #expect(try ledger.expire().map(\.record.requester) == [.phone])
  }

  @Test("Approving or denying an unknown, decided or expired id is `staleID` and changes nothing")
  func staleIDs() throws {
    let approved = try ledger.pend().id.description
    try ledger.approve(approved)
    let denied = try ledger.pend(.tablet).id.description
    try ledger.deny(denied)
    let expired = try ledger.pend(.app).id.description
    ledger.pass(120)
    let late = try ledger.pend(.app, .subject("network/get", .guest)).id.description
    ledger.pass(120)
    let unknown = ["c-0123456789abcdef", "c-", "", "g-0123456789abcdef", "C-0123456789ABCDEF", "1"]
    for id in [approved, denied, expired, late] + unknown {
      for scope in ConsentScope.allCases {
        let refusal = #expect(throws: ConsentRefusal.self) { try ledger.approve(id, scope) }
        #expect(refusal?.code == .staleID, "\(id)")
      }
      let refusal = #expect(throws: ConsentRefusal.self) { try ledger.deny(id) }
      #expect(refusal?.code == .staleID, "\(id)")
    }
    #expect(try ledger.grants().isEmpty && ledger.history().count == 2)
  }

  @Test("Ending a login's key revokes its grants and expires its requests, and no others")
  func endOfKey() throws {
    for requester in [ConsentRequester.phone, .tablet] {
      try ledger.approve(ledger.pend(requester).id.description, .always)
      try ledger.pend(requester, .subject("network/get", .guest))
    }
    try ledger.store.keychain.database.write {
      try ledger.ledger.end(
        of: .mqttUser("phone"), in: "cabin", by: "x", now: ledger.now, $0)
    }
    #expect(try ledger.isGranted(.phone), "another home")
    try ledger.store.keychain.database.write {
      try ledger.ledger.end(of: .mqttUser("phone"), in: "home", by: "x", now: ledger.now, $0)
    }
    #expect(try !ledger.isGranted(.phone) && ledger.isGranted(.tablet))
    #expect(try ledger.pending().map(\.requester) == [.tablet])
    #expect(try ledger.expire().map(\.record.requester) == [.phone])
    #expect(try ledger.history().map(\.outcome).prefix(2) == [.expired, .revoked])
  }

  @Test("A login cannot approve its own request, which stays pending for another approver")
  func selfApproval() throws {
    let id = try ledger.pend(.phone).id.description
    for scope in ConsentScope.allCases {
      let refusal = #expect(throws: ConsentRefusal.self) {
        try ledger.approve(id, scope, by: .mqttUser("phone", team: "phone"))
      }
      #expect(refusal?.code == .notAuthorized)
    }
    #expect(try ledger.pending().count == 1 && ledger.grants().isEmpty && ledger.history().isEmpty)
    try ledger.approve(id, by: .mqttUser("tablet", team: "tablet"))
  }

  @Test("A repeated request joins the pending one, which keeps up to eight reply addresses")
  func joining() throws {
    let first = try ledger.pend(transaction: "r-1")
    guard case .pending(let second, isNew: false) = try ledger.ask(transaction: "r-2") else {
      Issue.record("it did not join")
      return
    }
    #expect(second.id == first.id && second.expires == first.expires)
    try ledger.ask(transaction: "r-2")
    #expect(try ledger.pending().map(\.replies) == [[.sample("r-1"), .sample("r-2")]])
    for number in 3...8 { try ledger.ask(transaction: "r-\(number)") }
    let refusal = #expect(throws: ConsentRefusal.self) { try ledger.ask(transaction: "r-9") }
    #expect(refusal?.code == .rateLimited)
    #expect(try ledger.approve(first.id.description).replies.count == 8)
  }

  @Test(
    "At most 5 requests of a requester and 90 in total wait, plus 10 of the daemon's user and root"
  )
  func bounds() throws {
    for number in 0..<5 {
      let network = ConsentNetwork.sample("000000000000000\(number)", "n\(number)")
      try ledger.ask(.phone, .subject("network/get", network))
    }
    let refusal = #expect(throws: ConsentRefusal.self) { try ledger.ask() }
    #expect(refusal?.code == .rateLimited)
    for number in 1...85 {
      try ledger.ask(ConsentRequester(.systemUser(UInt32(number)), team: "t"), .preferred)
    }
    let full = #expect(throws: ConsentRefusal.self) { try ledger.ask(.tablet) }
    #expect(full?.code == .rateLimited)
    for (user, team) in [(998, "own"), (0, "root")] as [(UInt32, String)] {
      for number in 0..<5 {
        let network = ConsentNetwork.sample("000000000000000\(number)", "n\(number)")
        try ledger.ask(
          ConsentRequester(.systemUser(user), team: team), .subject("network/get", network))
      }
    }
    #expect(try ledger.pending().count == 100)
    ledger.pass(120)
    try ledger.ask(.tablet)
    #expect(try ledger.expire().count == 100)
  }

  @Test("The audit records each decision with its actor and each disclosure with its recipient")
  func audit() throws {
    let keychain = ledger.store.keychain
    let asked = try ledger.pend()
    try keychain.database.write { tx in
      keychain.act(as: "mqtt user anna", in: tx)
      let ended = try ledger.ledger.approve(
        asked.id.description, .always, by: .anna, now: ledger.now, tx)
      let grant = try #require(ended.record.grant)
      try ledger.ledger.noteDisclosure(
        of: asked.subject, to: asked.requester, by: grant.description, tx)
    }
    let grant = try #require(try ledger.grants().first).id
    try ledger.deny(ledger.pend(.tablet).id.description)
    try ledger.pend(.app)
    ledger.pass(120)
    try ledger.expire()
    try ledger.revoke(grant.description)
    let what = #"preferred/get "home-thread" (1111111122222222), home home to"#
    let lines = try ledger.audit()
    #expect(
      lines.prefix(3) == [
        "mqtt user anna consentGranted \(grant) \(what) login phone (team phone)",
        "mqtt user anna consentApproved \(asked.id) \(what) login phone (team phone) (always)",
        "mqtt user anna credentialsGiven \(what) login phone (team phone) by \(grant)",
      ])
    #expect(lines.count == 6)
    #expect(lines[3].hasPrefix("daemon consentDenied c-"))
    #expect(lines[4].hasPrefix("daemon consentExpired c-"))
    #expect(lines[5] == "daemon consentRevoked \(grant) \(what) login phone (team phone) (always)")
    #expect(try keychain.auditProblem() == nil)
  }

  @Test("A transaction with nothing but a disclosure is recorded in the audit")
  func disclosureAlone() throws {
    let keychain = ledger.store.keychain
    let grant = try #require(
      try ledger.approve(ledger.pend().id.description, .always).record.grant)
    try keychain.database.write {
      try ledger.ledger.noteDisclosure(of: .preferred, to: .phone, by: grant.description, $0)
    }
    #expect(try ledger.audit().last?.contains("credentialsGiven") == true)
    try ledger.store.reopen()
    #expect(try ledger.store.keychain.auditProblem() == nil)
  }

  @Test("A failed transaction leaves no pending request and no audit record")
  func rollback() throws {
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try ledger.store.keychain.database.write { tx in
        _ = try ledger.ledger.ask(
          ConsentRequest(.preferred, by: .phone, reply: .socket), now: ledger.now, tx)
        throw Undone()
      }
    }
    #expect(try ledger.pending().isEmpty && ledger.audit().isEmpty)
  }

  @Test("A grant that was altered in the store file covers nothing and is not listed")
  func altered() throws {
    try ledger.approve(ledger.pend().id.description, .always)
    #expect(try ledger.isGranted())
    let keychain = ledger.store.keychain
    try keychain.database.write { tx in
      try tx.execute(
        """
        UPDATE items SET metadata =
          CAST(substr(metadata, 1, length(metadata) - 8) || zeroblob(8) AS BLOB)
        """)
    }
    #expect(try !ledger.isGranted())
    #expect(try ledger.grants().isEmpty && ledger.history().isEmpty)
  }
}
