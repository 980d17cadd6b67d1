import TestKit
import Testing

@testable import BorderRouterAgent
@testable import Broker

/// What each event is, byte for byte, and how answers are read: `AgentBytesTests`.
@Suite("Events as they are published") struct EventWriterTests {
  private let agent = String(repeating: "1", count: 32)

  private func announce() throws -> RouterEvent {
    let report = try Sample.report()
    return RouterEvent(.announce, report, dataset: report.active)
  }

  @Test("Numbers rise, also when the clock is set back, and answers name them") func numbers() throws {
    var writer = EventWriter(base: "b", user: "u")
    let event = InboundEvent(RouterEvent(.heartbeat, of: try Sample.agent()))
    let publication = try writer.publication(of: event, answers: "answers", now: 100)
    #expect(publication.token == 100 && publication.correlationData == Array("heartbeat 100".utf8))
    #expect(publication.qos == 1 && !publication.retain && publication.responseTopic == "answers")
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
    #expect(String(decoding: opened.body, as: UTF8.self).contains(agent))
    #expect(!String(decoding: publication.payload, as: UTF8.self).contains(agent))
  }

  @Test("A login with keys has no last will, which nobody could sign") func lastWill() throws {
    let identity = try Identity()
    let sealing = EventWriter(base: "b", user: "u", keys: AgentKeys(own: identity, daemon: identity.keys))
    #expect(sealing.lastWill(of: InboundEvent(RouterEvent(.offline, of: try Sample.agent()))) == nil)
  }

  @Test("A summary shows the length of a dataset, and no key") func summary() throws {
    let text = EventWriter(base: "b", user: "u").summary(of: InboundEvent(try announce()))
    #expect(text.hasPrefix("b/in/u/announce {") && text.contains("bytes>"))
    #expect(!text.contains(SampleNetwork.home.networkKey))
  }
}

@Suite("threadkeeper's answers to events") struct EventOutcomeTests {
  @Test("An answer that is to no event of ours is ignored") func ignored() {
    func outcome(_ correlation: String) -> EventOutcome? {
      EventOutcome(
        IncomingMessage(
          topic: "t", payload: Array(#"{"status":"ok","v":1}"#.utf8), correlationData: Array(correlation.utf8)))
    }
    #expect(outcome("heartbeat 7")?.token == 7)
    for other in ["weather 7", "announce", "announce ", "announce x", "announce 7 8", "announce -1"] {
      #expect(outcome(other) == nil)
    }
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
