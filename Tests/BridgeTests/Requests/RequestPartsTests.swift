// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import Foundation
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// Keys that everybody can open: the body is turned round and written as Base64. It shows what is sealed
/// for whom and where.
private struct TestSeals: AnswerSealer, RequestOpener {
  var enrolled: Set<String> = []
  var mustSeal: Set<String> = []

  func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? {
    enrolled.contains(user) ? "key of \(user)" : nil
  }

  func seal(
    _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
    _ tx: ReadTransaction
  ) -> SealedText? {
    guard enrolled.contains(user) else { return nil }
    return SealedText(
      v: 1, typ: "sealed", alg: "test", kid: "\(user) \(place.topic)",
      ct: Data(body.reversed()).base64EncodedString())
  }

  func requiresSeal(of user: String, in home: String, _ tx: ReadTransaction) -> Bool {
    mustSeal.contains(user)
  }

  func open(
    _ sealed: SealedText, from user: String, in home: String, topic: String, now: WireTime,
    _ tx: WriteTransaction
  ) throws -> [UInt8] {
    guard sealed.kid == "\(user) \(topic)", let body = Data(base64Encoded: sealed.ct) else {
      throw AnswerFailure(.notAuthorized, field: "sealed", "sealed for another topic")
    }
    return body.reversed()
  }
}

@Suite("What is put into requests: keys and consent")
struct RequestPartsTests {
  private func bridge(_ seals: TestSeals = TestSeals(enrolled: ["anna", "bob"])) throws
    -> TestBridge
  {
    let bridge = try TestBridge {
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    bridge.parts.sealer = seals
    bridge.parts.opener = seals
    try bridge.announce(Agent.living, .home, at: 1)
    return bridge
  }

  /// The question that waits.
  private func onlyID(_ bridge: TestBridge) throws -> String {
    let ledger = ConsentLedger(bridge.temporary.keychain)
    let waiting = try bridge.database.read {
      try ledger.pending(now: bridge.clock.now().milliseconds, $0)
    }
    #expect(waiting.count == 1)
    return try #require(waiting.first).id.description
  }

  private func body(_ answered: Answered) throws -> AnswerData {
    let sealed = try #require(answered.data?.sealed)
    let json = Data(try #require(Data(base64Encoded: sealed.ct)).reversed())
    return try JSONDecoder().decode(AnswerData.self, from: json)
  }

  @Test("A secret is sealed for the user and the topic that it is published on")
  func sealed() throws {
    let bridge = try bridge()
    var message = try bridge.request("credentials/get", ["border_agent_id": Agent.living])
    message.responseTopic = "threadkeeper/out/anna/x"
    try bridge.receive([message])
    let answered = try #require(bridge.published.first)
    #expect(answered.data?.sealed?.kid == "anna threadkeeper/out/anna/x")
    #expect(answered.data?.credentials == nil)
    #expect(
      try body(answered).credentials?.first?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try bridge.ask(.listCredentials).data?.sealed == nil)
  }

  @Test("A sealed request is opened for its topic only, and makes no plaintext alert")
  func opened() throws {
    let bridge = try bridge()
    let inner = try JSONSerialization.data(withJSONObject: [
      "transaction": "inner", "border_agent_id": Agent.attic,
      "dataset": try SampleNetwork.guest.dataset(at: 1).hex,
    ])
    let topic = "threadkeeper/in/bob/request/credentials/store"
    func envelope(_ kid: String) -> [String: Any] {
      [
        "sealed": [
          "v": 1, "typ": "sealed", "alg": "test", "kid": kid,
          "ct": Data(inner.reversed()).base64EncodedString(),
        ] as [String: Any]
      ]
    }
    let moved = try bridge.ask(.storeCredentials, user: "bob", envelope("anna \(topic)"))
    #expect(moved.code == "not_authorized")
    #expect(try bridge.credential(Agent.attic) == nil)
    let stored = try bridge.ask(.storeCredentials, user: "bob", envelope("bob \(topic)"))
    #expect(stored.data?.change == .stored)
    #expect(stored.answer.transaction == "inner")
    try bridge.pass(40)
    #expect(
      try bridge.firing().contains { $0.hasPrefix("Plaintext") && $0.hasSuffix("bob") } == false)
  }

  @Test("A plaintext request of a user who must seal does not count")
  func mustSeal() throws {
    let bridge = try bridge(TestSeals(mustSeal: ["bob"]))
    let refused = try bridge.ask(.ping, user: "bob")
    #expect(refused.code == "not_authorized")
    #expect(refused.answer.error?.field == "sealed")
    #expect(try bridge.ask(.ping).code == nil)
  }

  @Test("Agreed by another user, the one who asked is answered where it asked")
  func agreed() throws {
    let bridge = try bridge()
    var message = try bridge.request("preferred/get", user: "bob", ["transaction": "t"])
    message.responseTopic = "threadkeeper/out/bob/x"
    message.correlationData = [1, 2]
    try bridge.receive([message])
    #expect(bridge.published.isEmpty)
    let id = try onlyID(bridge)
    try bridge.receive([
      try bridge.request("consent/approve", ["id": id, "transaction": "a"])
    ])
    #expect(bridge.published.count == 2)
    let answered = try #require(bridge.published.first)
    #expect(answered.publication.topic == "threadkeeper/out/bob/x")
    #expect(answered.publication.correlationData == [1, 2])
    #expect(answered.answer.transaction == "t")
    #expect(try body(answered).credentials?.first?.networkName == "home")
    #expect(bridge.published.last?.answer.transaction == "a")
    #expect(try bridge.ask(.approveConsent, ["id": id]).code == "stale_id")
  }

  @Test("Denied, the requester is answered so")
  func denied() throws {
    let bridge = try bridge()
    try bridge.receive([try bridge.request("preferred/get", user: "bob", ["transaction": "t"])])
    try bridge.receive([try bridge.request("consent/deny", ["id": onlyID(bridge)])])
    #expect(bridge.published.first?.code == "consent_denied")
    #expect(bridge.published.first?.answer.transaction == "t")
    #expect(bridge.counts.requestsRefused == 1)
  }

  @Test("What is given is what is stored when a person agrees")
  func lateness() throws {
    let bridge = try bridge()
    try bridge.receive([try bridge.request("preferred/get", user: "bob")])
    try bridge.announce(Agent.living, .home, at: 2)
    try bridge.receive([try bridge.request("consent/approve", ["id": onlyID(bridge)])])
    let answered = try #require(bridge.published.first)
    #expect(try body(answered).credentials?.first?.activeTimestamp == 2)
  }

  @Test("A caller on the socket waits, and is answered in plaintext when the daemon's user agrees")
  func caller() throws {
    let bridge = try bridge()
    let service = RequestService(bridge.runner())
    var request = ThreadRequest(.getPreferred)
    request.transaction = "t"
    guard
      case .waiting(let place) = service.answer(
        request, from: .systemUser(1001), team: "uid/1001")
    else {
      Issue.record("it does not wait")
      return
    }
    var decision = ThreadRequest(.approveConsent)
    decision.id = place.consent
    guard
      case .answer(let decided) = service.answer(
        decision, from: .systemUser(1000), team: "uid/1000", isAdministrator: true)
    else {
      Issue.record("it is not decided")
      return
    }
    #expect(decided.status == .ok)
    let told = try #require(service.callers.answer(at: place))
    #expect(told.transaction == nil, "each connection knows its own")
    #expect(told.data?.credentials?.first?.dataset == (try SampleNetwork.home.dataset(at: 1)))
  }
}

@Suite("A store that was changed while no daemon ran")
struct CatchUpTests {
  @Test("The preferred network and the routers are as the store has them after a start")
  func catchUp() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.database.write { tx in
      for command in ["attic", "garage"] {
        var request = ThreadRequest(command == "attic" ? .storeCredentials : .deleteCredentials)
        request.agent = BorderAgentID(hex: command == "attic" ? Agent.attic : Agent.garage)
        request.dataset = try SampleNetwork.guest.dataset(at: 9)
        _ = try CredentialService(
          store: bridge.store, gate: NoConsentGate(), registry: NoRegistry(),
          context: RequestContext(requester: .systemUser(1), team: "anna", home: "home"), tx
        ).answer(request)
      }
    }
    #expect(try bridge.home().preferredName == "home")
    try bridge.restart()
    try bridge.pass(1)
    try bridge.pass(1)
    #expect(try bridge.home().preferredName == "guest-thread")
    let attic = try #require(try bridge.router(Agent.attic))
    #expect(attic.networkName == "guest-thread" && attic.activeSeconds == 9)
    #expect(attic.preferred == "match")
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(try bridge.router(Agent.garage)?.credential == .missing)
    #expect(try bridge.network(.home)?.routers == 1)
    #expect(try bridge.network(.guest)?.routers == 1)
    // And nothing more is said by the next start.
    _ = try bridge.takeEvents()
    try bridge.restart()
    try bridge.pass(1)
    #expect(try bridge.takeEvents().isEmpty)
  }
}
