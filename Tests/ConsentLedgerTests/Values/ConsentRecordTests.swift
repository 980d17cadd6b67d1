// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Testing

@testable import ConsentLedger

@Suite("Storage format of consent records")
struct ConsentRecordTests {
  @Test("A stored request is read back unchanged, also with control characters in its names")
  func pending() throws {
    let name = "a\u{301}/\"\\\u{0}\n🧵"
    var pending = PendingConsent(
      ConsentRequest(
        .subject("network/get", .guest), by: ConsentRequester(.mqttUser(name), team: name),
        reply: .mqtt(
          responseTopic: "t/out/\(name)/x", correlationData: Array(0...255), transaction: nil)),
      id: .make(.request), now: 1)
    pending.isDenied = true
    let read = try JSONDecoder().decode(
      PendingConsent.self, from: JSONEncoder().encode(pending))
    #expect(read == pending)
    guard case .mqttUser(let readName) = read.requester.identity else {
      Issue.record("the requester is read back as \(read.requester)")
      return
    }
    #expect(Array(readName.utf8) == Array(name.utf8))
  }

  @Test("In few words, a user of this machine differs from a login of the same name")
  func shortRequester() {
    func words(_ identity: Requester, _ user: String? = nil) -> String {
      PendingConsent(
        ConsentRequest(
          .preferred, by: ConsentRequester(identity, team: "hub", userName: user), reply: .socket),
        id: .make(.request), now: 1
      ).shortRequester
    }
    #expect(words(.mqttUser("hub")) == "hub")
    #expect(words(.systemUser(1003), "hub") == "user hub")
    #expect(words(.systemUser(1003)) == "uid 1003")
  }

  @Test("The reason why nothing was given is read back, and a record without one is read too")
  func obstacle() throws {
    var record = ConsentRecord(
      id: .make(.request), outcome: .approved, requester: .phone, subject: .preferred, created: 1,
      decided: 2, decidedBy: "anna", scope: .once, grant: nil, given: false)
    record.obstacle = ConsentObstacle(code: "conflict", message: "it has changed")
    let stored = try JSONEncoder().encode(record)
    #expect(try JSONDecoder().decode(ConsentRecord.self, from: stored) == record)
    var fields = try #require(
      try JSONSerialization.jsonObject(with: stored) as? [String: Any])
    #expect(
      fields.removeValue(forKey: "not_given") as? [String: String]
        == ["code": "conflict", "message": "it has changed"])
    record.obstacle = nil
    let before = try JSONSerialization.data(withJSONObject: fields)
    #expect(try JSONDecoder().decode(ConsentRecord.self, from: before) == record)
  }

  @Test("Correlation Data is stored as Base64, not as an array of numbers")
  func correlation() throws {
    let reply = ConsentReply.mqtt(
      responseTopic: "t", correlationData: Array(repeating: 255, count: 120), transaction: nil)
    let stored = try JSONEncoder().encode(reply)
    let fields = try JSONSerialization.jsonObject(with: stored) as? [String: Any]
    #expect((fields?["correlation_data"] as? String)?.utf8.count == 160)
    #expect(try JSONDecoder().decode(ConsentReply.self, from: stored) == reply)
  }

  @Test("A requester is stored as `mqtt/<login>` or `uid/<number>`, and other forms are rejected")
  func identities() {
    #expect(Requester.mqttUser("a/b").rawValue == "mqtt/a/b")
    #expect(Requester(rawValue: "mqtt/a/b") == .mqttUser("a/b"))
    // A name that begins with what joins the slash to one Character.
    let joining = Requester.mqttUser("\u{301}a")
    #expect(Requester(rawValue: joining.rawValue) == joining)
    #expect(Requester(rawValue: "uid/1000") == .systemUser(1000))
    for text in ["", "uid/", "uid/-1", "uid/4294967296", "x/1"] {
      #expect(Requester(rawValue: text) == nil)
    }
  }

  @Test("Grants, decisions and pending requests are stored as items of the internal group")
  func items() throws {
    let ledger = try Ledger()
    try ledger.approve(ledger.pend().id.description, .always)
    try ledger.pend(.tablet)
    let keychain = ledger.store.keychain
    let items = try keychain.database.read {
      try keychain.items(matching: ItemQuery(.genericPassword), in: $0)
    }
    #expect(
      items.compactMap { $0[.service]?.string }.sorted() == [
        "thread-consent/grant", "thread-consent/history", "thread-consent/pending",
      ])
    #expect(items.allSatisfy { $0.accessGroup == "threadkeeper.internal" })
    #expect(items.allSatisfy { $0.accessible == .afterFirstUnlock })
  }

  @Test("Ids are unique, and malformed ids or ids of another kind are rejected")
  func ids() {
    let made = (0..<100).map { _ in ConsentID.make(.request).description }
    #expect(Set(made).count == 100)
    for id in made { #expect(ConsentID(id, .request) != nil && ConsentID(id, .grant) == nil) }
    for text in ["c-0123456789abcde", "c-0123456789abcdeff", "c-0123456789abcdeg", "c-é"] {
      #expect(ConsentID(text, .request) == nil)
    }
  }
}
