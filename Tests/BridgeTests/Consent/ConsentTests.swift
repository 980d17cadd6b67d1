// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import Logging
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Consent in the bridge")
struct ConsentTests {
  private let bridge: TestBridge
  private let outbox: Outbox
  private let topic = "threadkeeper/bridge/consent"

  init() throws {
    bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    outbox = try bridge.outbox()
  }

  private var consents: ConsentDecisions {
    ConsentDecisions(bridge.runner())
  }

  @discardableResult
  private func ask(
    _ user: String = "phone", home: String = "home", _ networks: [ConsentNetwork]? = nil
  ) throws -> PendingConsent {
    let subject = ConsentSubject(
      home: home, command: "preferred/get",
      networks: try networks ?? [network(.home)])
    let question = ConsentRequest(
      subject, by: ConsentRequester(.mqttUser(user), team: user),
      reply: .mqtt(
        responseTopic: "threadkeeper/out/\(user)/x", correlationData: nil, transaction: nil))
    return try bridge.transaction { transaction in
      let (outcome, effects) = try transaction.context.consents.ask(question)
      guard case .pending(let pending, _) = outcome else { throw Unexpected() }
      try transaction.apply(effects)
      return pending
    }.result
  }

  private struct Unexpected: Error {}

  private func network(_ sample: SampleNetwork) throws -> ConsentNetwork {
    ConsentNetwork(
      id: try #require(ExtendedPANID(hex: sample.extendedPANID)), name: sample.name)
  }

  @Test("A request is published as an event, and on bridge/consent of its home")
  func requested() throws {
    let asked = try ask()
    let all = try outbox.drain()
    #expect(all.map(\.topic) == ["threadkeeper/bridge/event", topic])
    #expect(all.map(\.retain) == [false, true])
    let event = try #require(all.first?.object)
    #expect(event["event_type"] as? String == "consent_requested")
    #expect(event["id"] as? String == asked.id.description)
    #expect(event["requester"] as? String == "login phone (team phone)")
    #expect(event["user"] as? String == "phone")
    #expect(event["command"] as? String == "preferred/get")
    #expect(event["network_name"] as? String == "home")
    #expect(event["ext_pan_id"] as? String == "1111111122222222")
    #expect(event["expires_at"] as? String == "2026-11-21T04:38:00Z")
    #expect((event["message"] as? String)?.contains("login phone (team phone) would get") == true)
    let overview = try #require(all.last)
    #expect(
      String(decoding: overview.payload, as: UTF8.self)
        == #"{"command":"preferred/get","expires_at":"2026-11-21T04:38:00Z","#
        + #""ext_pan_id":"1111111122222222","head":"\#(asked.id)","network_name":"home","#
        + #""pending":1,"requester":"login phone (team phone)","v":1}"#)
  }

  @Test("bridge/consent counts what waits, names the oldest, and says zero in the end")
  func overview() throws {
    let first = try ask("phone")
    bridge.clock.advance(seconds: 1)
    let second = try ask("tablet")
    try ask("far", home: "cabin")
    _ = try outbox.drain()
    try consents.approve(first.id.description, .once, by: .commandLine(user: 0))
    var view = RetainedView()
    for publication in try outbox.drain() { view.take(publication) }
    let left = try #require(view.retained[topic])
    #expect(String(decoding: left, as: UTF8.self).contains(#""head":"\#(second.id)""#))
    #expect(String(decoding: left, as: UTF8.self).contains(#""pending":1"#))
    #expect(view.retained["cabin/bridge/consent"] == nil, "nothing has changed there")
    try consents.deny(second.id.description, by: .commandLine(user: 0))
    for publication in try outbox.drain() { view.take(publication) }
    #expect(
      view.retained[topic].map { String(decoding: $0, as: UTF8.self) } == #"{"pending":0,"v":1}"#)
    #expect(
      view.types(on: "threadkeeper/bridge/event") == ["consent_approved", "consent_denied"])
  }

  @Test("Of several networks the names are published, and no single id")
  func severalNetworks() throws {
    try ask("phone", [network(.home), network(.guest)])
    let all = try outbox.drain()
    for object in all.map(\.object) {
      #expect(object["network_name"] as? String == "home, guest-thread")
      #expect(object["ext_pan_id"] == nil)
    }
  }

  @Test("A decision is published with who made it and for how long")
  func decided() throws {
    let asked = try ask()
    _ = try outbox.drain()
    let decision = try consents.approve(asked.id.description, .always, by: .commandLine(user: 1000))
    let event = try #require(try outbox.drain().first?.object)
    #expect(event["event_type"] as? String == "consent_approved")
    #expect(event["decided_by"] as? String == "uid 1000 (command line)")
    #expect(event["scope"] as? String == "always")
    let grant = try #require(decision.grant)
    #expect(try consents.revoke(grant.description, by: .commandLine(user: 0)).id == grant)
    #expect(try outbox.drain().isEmpty, "a request of later will be an event again")
    let refusal = #expect(throws: ConsentRefusal.self) {
      try consents.approve(asked.id.description, .once, by: .commandLine(user: 0))
    }
    #expect(refusal?.code == .staleID)
  }

  @Test(
    "Time ends it: one event, and bridge/consent is empty; a restart in between changes nothing")
  func expired() throws {
    try ask()
    try bridge.pass(119)
    _ = try outbox.drain()
    try bridge.restart()
    let outbox = try bridge.outbox()
    try bridge.pass(1)
    let all = try outbox.drain()
    #expect(all.suffix(2).map { $0.object["event_type"] as? String } == ["consent_expired", nil])
    #expect(all.last?.object["pending"] as? Int == 0)
    try bridge.pass(1)
    #expect(try outbox.drain().isEmpty)
  }

  @Test("An event of consent leaves the state of its network alone")
  func networkState() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try outbox.drain()
    try ask("phone", [network(.home)])
    try ask("tablet", [network(.guest)])
    let topics = Set(try outbox.drain().map(\.topic))
    #expect(topics == ["threadkeeper/bridge/event", topic])
  }

  @Test("The log says who asks for what, and what to type; a notice holds no secret")
  func log() throws {
    let recorder = RecordingLog()
    var news = BatchNews()
    let asked = try ask()
    news.add(asked, asked.reason(namingHome: true))
    news.log(to: recorder.logger)
    let line = try #require(recorder.lines.first)
    #expect(line.contains("login phone (team phone)") && line.contains("1111111122222222"))
    #expect(line.contains(", home home: with it"))
    #expect(line.contains("threadkeeper consent approve \(asked.id)"))
    #expect(line.contains("threadkeeper consent deny \(asked.id)"))
  }
}
