import Broker
import Foundation
import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("Events as they are published") struct EventWriterTests {
  private let agent = String(repeating: "1", count: 32)

  private func object(_ payload: [UInt8]) throws -> [String: String] {
    let value = try JSONSerialization.jsonObject(with: Data(payload))
    return try #require(value as? [String: Any]).mapValues { "\($0)" }
  }

  private func announce() throws -> RouterEvent {
    var report = try Sample.report()
    report.partition = 4_294_967_295
    return RouterEvent(.announce, report, dataset: report.active)
  }

  @Test("An announcement has all fields of the protocol, and a number") func announcement() throws {
    var writer = EventWriter(base: "threadkeeper", user: "hub")
    let event = InboundEvent(try announce(), .init(name: "Living \"room\"", model: "M1"))
    let publication = try writer.publication(of: event, answers: "answers", now: 7)
    #expect(publication.topic == "threadkeeper/in/hub/announce")
    #expect(publication.qos == 1 && !publication.retain && publication.token == 7)
    #expect(publication.correlationData == Array("announce 7".utf8))
    #expect(publication.responseTopic == "answers")
    #expect(
      try object(publication.payload) == [
        "border_agent_id": agent, "name": "Living \"room\"", "model": "M1", "seq": "7",
        "ext_address": "0102030405060708", "ext_pan_id": "1111111122222222", "thread_state": "leader",
        "partition_id": "4294967295", "dataset": SampleNetwork.home.dataset(at: 1).hex,
      ])
  }

  @Test("Numbers rise, also when the clock is set back") func numbers() throws {
    var writer = EventWriter(base: "b", user: "u")
    let event = InboundEvent(RouterEvent(.heartbeat, of: try Sample.agent()))
    #expect(try writer.publication(of: event, now: 100).token == 100)
    #expect(try writer.publication(of: event, now: 50).token == 101)
    #expect(try writer.publication(of: event, now: 200).token == 200)
  }

  @Test("With keys it is sealed to the daemon and signed, and shows nothing outside") func sealed() throws {
    let own = try Identity()
    let daemon = try Identity()
    var writer = EventWriter(base: "threadkeeper", user: "hub", keys: AgentKeys(own: own, daemon: daemon.keys))
    let now: UInt64 = 1_800_000_000_000_000_001
    let publication = try writer.publication(of: InboundEvent(announce()), now: now)
    let opened = try opened(publication.payload, with: daemon, from: own, topic: publication.topic, now: 1_800_000_000)
    #expect(opened.order == .sequence(now))
    #expect(try object(opened.body)["border_agent_id"] == agent)
    #expect(!String(decoding: publication.payload, as: UTF8.self).contains(agent))
  }

  @Test("The last will is plain, without a number; a login with keys has none") func lastWill() throws {
    let offline = InboundEvent(RouterEvent(.offline, of: try Sample.agent()))
    let writer = EventWriter(base: "b", user: "u")
    let will = try #require(writer.lastWill(of: offline))
    #expect(will.topic == "b/in/u/offline")
    #expect(try object(will.payload) == ["border_agent_id": agent])
    let identity = try Identity()
    let sealing = EventWriter(base: "b", user: "u", keys: AgentKeys(own: identity, daemon: identity.keys))
    #expect(sealing.lastWill(of: offline) == nil)
  }

  @Test("A summary shows the length of a dataset, and no key") func summary() throws {
    let text = EventWriter(base: "b", user: "u").summary(of: InboundEvent(try announce()))
    #expect(text.hasPrefix("b/in/u/announce {") && text.contains("bytes>"))
    #expect(!text.contains(SampleNetwork.home.networkKey))
  }
}

@Suite("threadkeeper's answers to events") struct EventOutcomeTests {
  private func outcome(_ payload: String, of kind: String = "announce", token: String = " 7") -> EventOutcome? {
    EventOutcome(IncomingMessage(topic: "t", payload: Array(payload.utf8), correlationData: Array((kind + token).utf8)))
  }

  @Test("A rejection has its code, field and message; all else has none") func read() {
    #expect(outcome(#"{"status":"ok","v":1}"#)?.code == nil)
    let rejected = outcome(
      #"{"error":{"code":"not_found","field":"border_agent_id","message":"no"},"status":"error","v":1}"#,
      of: "heartbeat")
    #expect(rejected?.kind == .heartbeat && rejected?.code == "not_found")
    #expect(rejected?.token == 7)
    #expect(rejected?.field == "border_agent_id" && rejected?.message == "no")
    #expect(outcome(#"{"status":"error"}"#)?.code == "unknown")
  }

  @Test("What is no answer is ignored", arguments: ["", "[]", "{}", "{\"status\":1}", "{\"status\":\"ok\""])
  func ignored(_ payload: String) {
    #expect(outcome(payload) == nil)
    #expect(outcome(#"{"status":"ok"}"#, of: "weather") == nil)
    for token in ["", " ", " x", " 7 8", " -1"] { #expect(outcome(#"{"status":"ok"}"#, token: token) == nil) }
  }
}

@Suite("What an agent publishes on its next connection") struct BrokerLinkTests {
  @Test(
    "What was not acknowledged is offered again where that is wanted, but never what expires", arguments: [true, false])
  func offered(again: Bool) throws {
    let link = BrokerLink(offersAgain: again)
    link.publish(Publication(topic: "event", payload: [], token: 1))
    link.publish(Publication(topic: "request", payload: [], messageExpiry: 30, token: 2))
    #expect(link.publications(upTo: 10).map(\.token) == [1, 2])
    link.connected(
      MosquittoSession(sessionPresent: false, protocolVersion: .v5, publishWindow: 20, isRetainAvailable: true))
    #expect(link.publications(upTo: 10).map(\.token) == (again ? [1] : []))
  }
}

@Suite("The connection of an agent") struct AgentConnectionTests {
  @Test(
    "After an outage it waits 5 s at most between two attempts, or less where that is configured",
    arguments: [(60, 5), (5, 5), (2, 2)]) func wait(_ configured: Int, _ longest: Int)
  {
    var broker = MosquittoConfiguration(host: "127.0.0.1", clientID: "a")
    broker.reconnect.ceiling = .seconds(configured)
    let login = AgentLogin(base: "threadkeeper", user: "hub", broker: broker)
    let connection = login.connection("otbr", answers: "a1b2")
    #expect(connection.reconnect.ceiling == .seconds(longest))
    #expect(connection.subscriptions.map(\.filter) == ["threadkeeper/out/hub/response/event/a1b2"])
  }
}
