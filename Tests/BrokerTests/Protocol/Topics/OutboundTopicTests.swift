// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset

@Suite("Outbound topics")
struct OutboundTopicTests {
  let topic = OutboundTopic(base: "lets/3b")

  @Test("Topics about the daemon")
  func bridge() {
    #expect(topic.state == "lets/3b/bridge/state")
    #expect(topic.info == "lets/3b/bridge/info")
    #expect(topic.health == "lets/3b/bridge/health")
    #expect(topic.alerts == "lets/3b/bridge/alerts")
    #expect(topic.event == "lets/3b/bridge/event")
    #expect(topic.alertEvent == "lets/3b/bridge/event/alert")
  }

  @Test("Topics about one thing carry its id in lower case")
  func things() throws {
    let agent = try #require(BorderAgentID(hex: "A1B2C3D4E5F60718"))
    #expect(topic.router(agent) == "lets/3b/router/a1b2c3d4e5f60718")
    #expect(topic.availability(agent) == "lets/3b/router/a1b2c3d4e5f60718/availability")
    #expect(topic.routerEvent(agent) == "lets/3b/router/a1b2c3d4e5f60718/event")
    let network = try #require(ExtendedPANID(hex: "1111111122222222"))
    #expect(topic.network(network) == "lets/3b/network/1111111122222222")
    let fingerprint = AlertFingerprint(home: "home", name: .storeReadOnly, subject: "")
    #expect(topic.alert(fingerprint) == "lets/3b/alert/b0134f915fc4b05e")
  }

  @Test("A long id with eight zero bytes at its end has the topics of the short one")
  func alias() throws {
    let short = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let long = try #require(BorderAgentID(hex: "a1b2c3d4e5f607180000000000000000"))
    #expect(topic.router(long) == topic.router(short))
  }

  @Test("Answers lie below the user's own topic, under the name of what was asked")
  func answers() {
    #expect(
      topic.answer(to: "anna", command: "credentials/list")
        == "lets/3b/out/anna/response/credentials/list")
    for odd in [
      "", "A", "a//b", "/a", "a/", "..", "a b", "a+", "#", String(repeating: "a", count: 65),
    ] {
      #expect(topic.answer(to: "anna", command: odd) == "lets/3b/out/anna/response/unknown")
    }
  }

  @Test("A topic for answers is the user's own, byte by byte, and one that can be published to")
  func ownTopics() {
    for own in ["a", "response/ping", "a b/ü", "$x/y", "datasets", "x/dataset/set"] {
      #expect(topic.isAnswer("lets/3b/out/anna/\(own)", to: "anna"))
    }
    for order in ["dataset", "dataset/set", "dataset/set/x"] {
      #expect(!topic.isAnswer("lets/3b/out/anna/\(order)", to: "anna"))
    }
    for strange in ["", "a/", "/a", "a//b", "a/+", "#", "..", "a/../b", "a\u{7F}"] {
      #expect(!topic.isAnswer("lets/3b/out/anna/\(strange)", to: "anna"))
    }
    for other in ["lets/3b/out/anna", "lets/3b/out/bob/a", "lets/3b/in/anna/a", "x/out/anna/a"] {
      #expect(!topic.isAnswer(other, to: "anna"))
    }
    let long = "lets/3b/out/anna/" + String(repeating: "a", count: 1_100)
    #expect(!topic.isAnswer(long, to: "anna"))
  }

  @Test("Nothing that is published comes back in")
  func loop() throws {
    let topics = BaseTopics([.init(name: "home", base: "lets/3b")])
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    for published in [topic.state, topic.event, topic.alertEvent, topic.routerEvent(agent)] {
      let rest = try #require(topics.split(published)).rest
      #expect(throws: Rejection.self) { try InboundTopic(rest, belowBaseOf: "home") }
    }
  }
}
