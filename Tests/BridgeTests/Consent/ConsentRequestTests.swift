// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("Requests that wait for consent")
struct ConsentRequestTests {
  private let bridge: TestBridge
  private let preferred = "preferred/get"

  init() throws {
    bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ]) {
      $0.approvers = ["anna", "phone"]
      $0.approversMustSign = false
      $0.teams = BrokerTeams(["wrist": ["phone", "watch"]])
    }
    bridge.parts.sealer = OpenSealer()
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    try bridge.announce(Agent.attic, .guest, at: 1, user: "hub")
  }

  /// Seals nothing, so that a test can look inside. Every login but "unenrolled" is enrolled.
  private struct OpenSealer: AnswerSealer {
    func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? {
      user == "unenrolled" ? nil : "key of \(user)"
    }

    func seal(
      _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
      _ tx: ReadTransaction
    ) -> SealedText? {
      user == "unsealable" || place.transaction == "unsealable"
        ? nil
        : SealedText(
          v: 1, typ: "sealed", alg: "none", kid: user, ct: Data(body).base64EncodedString())
    }
  }

  private struct Said {
    let topic: String
    let correlation: [UInt8]?
    let answer: ThreadAnswer

    var code: String? { answer.error?.code }
    /// The datasets that it tells.
    var datasets: [String] {
      guard let text = answer.data?.sealed?.ct, let body = Data(base64Encoded: text),
        let data = try? JSONDecoder().decode(AnswerData.self, from: body)
      else { return [] }
      return (data.credentials ?? []).compactMap { $0.dataset?.hex }
    }
  }

  private func said(_ answers: [Answer]) throws -> [Said] {
    try answers.map { answer in
      guard case .publication(let publication, _) = answer else { throw Unexpected() }
      return Said(
        topic: publication.topic, correlation: publication.correlationData,
        answer: try #require(ThreadAnswer(json: publication.payload)))
    }
  }

  private struct Unexpected: Error {}

  /// One request over MQTT, in a batch of its own.
  @discardableResult
  private func ask(
    _ command: String, _ fields: [String: Any] = [:], user: String = "tablet",
    base: String = "threadkeeper", correlation: [UInt8]? = nil
  ) throws -> [Said] {
    try bridge.receive([
      IncomingMessage(
        topic: "\(base)/in/\(user)/request/\(command)",
        payload: Array(try JSONSerialization.data(withJSONObject: fields)),
        correlationData: correlation)
    ])
    return try said(bridge.answers)
  }

  private func waiting() throws -> [PendingConsent] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
  }

  private func onlyID() throws -> String { try #require(try waiting().first).id.description }

  /// What came of the last decision, by its history and by the audit.
  private func outcome() throws -> (record: ConsentRecord, audit: [String]) {
    let last = try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).history(limit: 1, $0).first
    }
    let record = try #require(last)
    var audit: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { one in
      audit += one.lines.filter {
        [.credentialsGiven, .credentialsNotGiven].contains($0.action)
          && $0.subject.contains("by \(record.id)")
      }.map { "\($0.action): \($0.subject)" }
    }
    return (record, audit)
  }

  private func checkNotGiven(_ code: String, _ message: String) throws {
    let (record, audit) = try outcome()
    #expect(record.outcome == .approved && record.given == false)
    #expect(record.obstacle?.code == code)
    #expect(record.obstacle?.message.contains(message) == true)
    #expect(audit.count == 1)
    #expect(audit.first?.hasPrefix("\(AuditAction.credentialsNotGiven):") == true)
    #expect(audit.first?.contains(message) == true)
  }

  private var home: String { get throws { try SampleNetwork.home.dataset(at: 1).hex } }

  @Test("preferred/get waits; approved over MQTT, the answer goes to who asked, as it asked")
  func approved() throws {
    #expect(
      try ask(preferred, ["transaction": "r-17"], correlation: [1, 2]).isEmpty,
      "nothing is given before")
    let pending = try #require(try waiting().first)
    #expect(pending.requester.description == "login tablet (team tablet)")
    #expect(pending.subject.networks.map(\.name) == ["home"])
    let said = try ask("consent/approve", ["id": pending.id.description], user: "anna")
    #expect(said.count == 2)
    let answer = try #require(said.first)
    #expect(answer.topic == "threadkeeper/out/tablet/response/preferred/get")
    #expect(answer.correlation == [1, 2] && answer.answer.transaction == "r-17")
    #expect(try answer.datasets == [home])
    #expect(said.last?.topic == "threadkeeper/out/anna/response/consent/approve")
    #expect(said.last?.answer.status == .ok)
    #expect(try bridge.takeNames().suffix(2) == ["consent_requested", "consent_approved"])
    #expect(try ask(preferred).isEmpty, "once is once")
  }

  @Test("Correlation Data of more than 128 bytes is refused, and nothing of it is stored")
  func longCorrelation() throws {
    for bytes in [129, 65_535] {
      for _ in 0..<4 {
        let said = try ask(
          preferred, ["transaction": "r-17"], correlation: Array(repeating: 255, count: bytes))
        #expect(said.map(\.code) == ["invalid_payload"])
        #expect(said.first?.answer.transaction == "r-17")
        #expect(said.first?.correlation == nil)
      }
    }
    #expect(try waiting().isEmpty)
  }

  @Test("As many as one question may answer, each with 128 bytes: all are answered")
  func joined() throws {
    let all = (0..<8).map { Array(repeating: UInt8(255 - $0), count: 128) }
    for one in all { #expect(try ask(preferred, correlation: one).isEmpty) }
    let said = try ask("consent/approve", ["id": onlyID()], user: "anna")
    #expect(said.dropLast().map(\.correlation) == all)
    #expect(try said.dropLast().allSatisfy { try $0.datasets == [home] })
  }

  @Test("A restart in between: the request is still answered where it asked to be")
  func restart() throws {
    try ask(preferred, ["transaction": "r-17"], correlation: [9])
    try bridge.restart()
    let said = try ask("consent/approve", ["id": onlyID()], user: "anna")
    #expect(said.first?.topic == "threadkeeper/out/tablet/response/preferred/get")
    #expect(said.first?.correlation == [9] && said.first?.answer.transaction == "r-17")
    #expect(try said.first?.datasets == [home])
  }

  @Test("Denied: the requester is answered, and again when it asks at once")
  func denied() throws {
    try ask(preferred, ["transaction": "r-17"])
    let said = try ask("consent/deny", ["id": onlyID()], user: "anna")
    #expect(said.first?.code == "consent_denied" && said.first?.answer.transaction == "r-17")
    #expect(said.first?.topic == "threadkeeper/out/tablet/response/preferred/get")
    #expect(try ask(preferred).map(\.code) == ["consent_denied"])
    #expect(try waiting().isEmpty)
  }

  @Test("No person decides: the tick answers the requester")
  func expired() throws {
    try ask(preferred, ["transaction": "r-17"])
    bridge.clock.advance(seconds: 120)
    let batch = try tick()
    let said = try said(batch.answers)
    #expect(said.map(\.code) == ["consent_expired"])
    #expect(said.first?.answer.transaction == "r-17")
    #expect(try tick().answers.isEmpty)
  }

  private func tick() throws -> TransactionOutcome {
    try bridge.transaction { transaction in
      var cursors = TickCursors(since: bridge.clock.moment())
      try TickApplier(transaction: transaction, listeningSince: nil).apply(&cursors)
    }.outcome
  }

  @Test("Always: answered at once from then on, until the network is another one")
  func always() throws {
    try ask(preferred)
    let always = ["id": try onlyID(), "scope": "always"]
    #expect(try ask("consent/approve", always, user: "anna").count == 2)
    #expect(try ask(preferred).first?.datasets == [home])
    #expect(try ask(preferred, user: "other").isEmpty, "it is not for everybody")
    #expect(try ask("network/get", ["ext_pan_id": "1111111122222222"]).isEmpty, "another command")
    let set = try ask("preferred/set", ["ext_pan_id": "3333333344444444"], user: "anna")
    #expect(set.first?.answer.data?.changed == true)
    #expect(try ask(preferred).isEmpty)
    #expect(try waiting().last?.subject.networks.map(\.name) == ["guest-thread"])
  }

  @Test(
    "What was agreed to is one network: when another became preferred meanwhile, nothing is given")
  func changedMeanwhile() throws {
    try ask(preferred)
    let id = try onlyID()
    try ask("preferred/set", ["ext_pan_id": "3333333344444444"], user: "anna")
    let said = try ask("consent/approve", ["id": id], user: "anna")
    #expect(said.first?.code == "conflict" && said.first?.datasets == [])
    try checkNotGiven("conflict", "what was agreed to has changed since")
  }

  @Test("What was agreed to is not stored any more: history and audit say that nothing was given")
  func notFound() throws {
    try ask("network/get", ["ext_pan_id": "3333333344444444"])
    let id = try onlyID()
    let moved = SampleNetwork.guest.with {
      $0.extendedPANID = "5555555566666666"
      $0.name = "moved"
    }
    try bridge.announce(Agent.attic, moved, at: 2, user: "hub")
    #expect(try ask("consent/approve", ["id": id], user: "anna").first?.code == "not_found")
    try checkNotGiven("not_found", "no credentials of this network are stored")
  }

  @Test("What cannot be sealed is not given, and a grant for the next times stands")
  func unsealable() throws {
    try ask(preferred, user: "unsealable")
    let always = ["id": try onlyID(), "scope": "always"]
    #expect(try ask("consent/approve", always, user: "anna").first?.code == "not_enrolled")
    try checkNotGiven("not_enrolled", "no key to seal them to")
    #expect(try outcome().record.grant != nil)
  }

  @Test(
    "Of several answers that a question owes, one that is given is enough; of none, one line says so"
  )
  func several() throws {
    try ask(preferred, ["transaction": "unsealable"])
    try ask(preferred, ["transaction": "r-17"])
    let said = try ask("consent/approve", ["id": onlyID()], user: "anna")
    #expect(said.map(\.code) == ["not_enrolled", nil, nil])
    var (record, audit) = try outcome()
    #expect(record.outcome == .approved && record.given == nil && record.obstacle == nil)
    #expect(audit.count == 1)
    #expect(audit.first?.hasPrefix("\(AuditAction.credentialsGiven):") == true)
    for transaction in ["a", "b"] { try ask(preferred, ["transaction": transaction]) }
    let id = try onlyID()
    try ask("preferred/set", ["ext_pan_id": "3333333344444444"], user: "anna")
    try ask("consent/approve", ["id": id], user: "anna")
    try checkNotGiven("conflict", "what was agreed to has changed since")
    try ask(preferred)
    try ask("consent/deny", ["id": onlyID()], user: "anna")
    (record, audit) = try outcome()
    #expect(record.outcome == .denied && record.given == nil && audit.isEmpty)
  }

  @Test("Of the networks nearby, only those that were agreed to are given")
  func nearby() throws {
    try ask("networks/nearby")
    let id = try onlyID()
    let later = SampleNetwork.guest.with {
      $0.extendedPANID = "5555555566666666"
      $0.name = "later"
    }
    try bridge.announce(Agent.garage, later, at: 1, user: "hub")
    let said = try ask("consent/approve", ["id": id], user: "anna")
    #expect(
      try said.first?.datasets.sorted()
        == [home, SampleNetwork.guest.dataset(at: 1).hex].sorted())
  }

  @Test("Only approvers decide, never for themselves, and only in the home where they speak")
  func rights() throws {
    try ask(preferred, user: "phone")
    let id = try onlyID()
    for verb in ["consent/approve", "consent/deny"] {
      for user in ["tablet", "hub", "Anna"] {
        #expect(try ask(verb, ["id": id], user: user).map(\.code) == ["not_authorized"])
      }
    }
    #expect(
      try ask("consent/approve", ["id": id], user: "phone").map(\.code) == ["not_authorized"],
      "an approver, but it asks itself")
    #expect(
      try ask("consent/approve", ["id": id], user: "anna", base: "cabin").map(\.code)
        == ["stale_id"])
    #expect(
      try ask("consent/approve", ["id": "c-0123456789abcdef"], user: "tablet").map(\.code)
        == ["not_authorized"], "nobody else learns which ids there are")
    #expect(try waiting().count == 1)
    #expect(try ask("consent/approve", ["id": id], user: "anna").first?.datasets == [home])
    #expect(
      try ask("consent/approve", ["id": id], user: "anna").map(\.code) == ["stale_id"])
  }

  @Test("An approver does not approve what another login of its team asks")
  func ownTeam() throws {
    try ask(preferred, user: "watch")
    let approval = ["id": try onlyID()]
    #expect(
      try ask("consent/approve", approval, user: "phone").map(\.code) == ["not_authorized"])
    #expect(try ask("consent/approve", approval, user: "anna").first?.datasets == [home])
  }

  @Test("The audit says that credentials were given only when they were sealed")
  func auditOfAnswers() throws {
    func given() throws -> Int {
      var count = 0
      try bridge.temporary.keychain.forEachAuditRecord { record in
        count += record.lines.count { $0.action == .credentialsGiven }
      }
      return count
    }
    for (user, expected) in [("unsealable", 0), ("tablet", 2)] {
      try ask(preferred, user: user)
      try ask("consent/approve", ["id": onlyID(), "scope": "always"], user: "anna")
      let answer = try #require(try ask(preferred, user: user).first)
      #expect(answer.datasets.isEmpty == (expected == 0), "without a question by now")
      #expect(try given() == expected)
    }
  }

  @Test("A requester without a key to seal to is refused, and no person is asked")
  func notEnrolled() throws {
    #expect(try ask(preferred, user: "unenrolled").map(\.code) == ["not_enrolled"])
    #expect(try waiting().isEmpty)
  }

  @Test("What needs no consent makes no question")
  func noConsent() throws {
    #expect(try ask("preferred/available").first?.answer.data?.available == true)
    let check = try ask("preferred/check", ["dataset": home])
    #expect(check.first?.answer.data?.result == .match)
    #expect(try waiting().isEmpty)
  }

  @Test("A flood of requests is refused, and answered")
  func flood() throws {
    for number in 0..<5 {
      let network = SampleNetwork.guest.with {
        $0.extendedPANID = "777777770000000\(number)"
        $0.name = "n\(number)"
      }
      try bridge.announce("a1b2c3d40000000\(number)", network, at: 1, user: "hub")
      #expect(try ask("network/get", ["ext_pan_id": network.extendedPANID]).isEmpty)
    }
    #expect(try ask(preferred).map(\.code) == ["rate_limited"])
    for number in 0..<12 {
      try ask("network/get", ["ext_pan_id": "7777777700000000", "transaction": "\(number)"])
    }
    #expect(try said(bridge.answers).map(\.code) == ["rate_limited"])
    #expect(try waiting().count == 5)
  }

  @Test(
    "A requester sees what it waits for itself, in its home, and no network that it has not named")
  func pending() throws {
    try ask(preferred, ["transaction": "a"])
    try ask(preferred, ["transaction": "b"])
    try ask("network/get", ["ext_pan_id": "3333333344444444"])
    let ids = try waiting().map(\.id.description)
    let own = try #require(try ask("consent/pending").first?.answer.data?.pending)
    #expect(own.map(\.id) == ids && own.map(\.command) == [preferred, "network/get"])
    #expect(own.map(\.extendedPANID) == [nil, "3333333344444444"])
    #expect(own.allSatisfy { $0.reason == nil })
    #expect(own.map(\.transactions) == [["a", "b"], []])
    #expect(
      own.first?.expiresAt
        == WireTime(milliseconds: bridge.clock.now().milliseconds + 120_000).description)
    for (user, base) in [("hub", "threadkeeper"), ("anna", "threadkeeper"), ("tablet", "cabin")] {
      let said = try ask("consent/pending", user: user, base: base)
      #expect(said.first?.answer.data?.pending == [])
    }
    try ask("consent/approve", ["id": ids[0]], user: "anna")
    try ask("consent/deny", ["id": ids[1]], user: "anna")
    #expect(try ask("consent/pending").first?.answer.data?.pending == [])
  }

  @Test("A login of the broker is its name, whatever program it says it is")
  func program() throws {
    try ask(preferred, ["program": "homes"])
    #expect(try waiting().map(\.requester.description) == ["login tablet (team tablet)"])
  }
}
