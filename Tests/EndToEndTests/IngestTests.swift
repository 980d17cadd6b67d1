// SPDX-License-Identifier: Apache-2.0

import Foundation
import MosquittoClient
import TestKit
import Testing

/// A publisher with topics and JSON of its own, on a real broker.
@Suite("Ingest rules", .inTurns, .timeLimit(.minutes(30)))
struct IngestTests {
  @Test(
    "A foreign publisher's router is listed, checked, offline by its will, and its mistakes counted"
  )
  func life() async throws {
    let broker = try TestBroker()
    Recorder.current?.takesIn(below: "otbr")
    let installation = try Installation(broker, hold: 0, more: ForeignHub.rules)
    let audience = try await Audience.start(broker, "threadkeeper/#")
    let publisher = try await TestPublisher.start(broker)
    let (home, other) = (try ThreadNetwork("home"), try ThreadNetwork("other"))
    // What waits at the broker as a retained message is not acted upon.
    try await publisher.publish("otbr/kitchen/LWT", "Offline", retain: true)
    let daemon = try await installation.start()
    let first = BorderRouter(number: 1)
    try await publisher.publish([first.announces(try home.hex())])
    try await audience.until("the preferred network") {
      $0.state(first.topic)?["credentials"] == "stored"
    }

    // Published with the retain flag, as such publishers do.
    try await publisher.publish(
      "otbr/kitchen/status", try ForeignHub.status(home, ssid: "one"), retain: true)
    let topic = "threadkeeper/router/\(ForeignHub.agent)"
    try await audience.until("the router") {
      $0.state(topic)?["name"] == "Box kitchen" && $0.state(topic)?["ssid"] == "one"
    }
    #expect(audience.look { $0.state(topic)?["user"] } == "otbr")
    try await audience.until("the notice about its plaintext credentials") {
      $0.alerts("alert_raised", "PlaintextCredentials").contains { $0["user"] == "otbr" }
    }
    #expect(try await installation.dataset(of: ForeignHub.agent) == home.hex())
    #expect(audience.look { $0.alerts("alert_raised", "BorderRouterOffline").isEmpty })

    // It drifts: the same alert as of any router, and the SSID's change is noticed.
    try await publisher.publish("otbr/kitchen/status", try ForeignHub.status(other, ssid: "two"))
    try await audience.until("the mismatch and the other SSID") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
        && $0.events("ssid_changed").count == 1
    }
    try await publisher.publish(
      "otbr/kitchen/status", try ForeignHub.status(home, ssid: "two", at: 2))
    try await audience.until("the end of the mismatch") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
    }

    try await publisher.publish("otbr/kitchen/LWT", "Online")
    try await publisher.publish("otbr/kitchen/LWT", "Offline")
    try await audience.until("the router offline") {
      $0.state("\(topic)/availability") == ["state": "offline"]
    }

    try await publisher.publish("otbr/kitchen/status", #"{"thread":{"note":"5ec2e7ab"}}"#)
    try await publisher.publish("otbr/kitchen/status", "5ec2e7ab")
    try await audience.until("the rejections") {
      $0.events("message_rejected").count { $0["code"] == "ingest:status" } == 2
    }
    let events = audience.look { $0.events("message_rejected") }
    // The rule with a condition leaves the second one alone.
    #expect(events.count == 2, "\(events)")
    #expect(events.allSatisfy { $0["field"] == "border_agent_id" && $0["user"] == "otbr" })
    #expect(events.allSatisfy { $0["topic"] == "otbr/kitchen/status" })
    #expect(!events.description.contains("5ec2e7ab"))
    #expect(!daemon.log.contains("5ec2e7ab"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A last will that a broker publishes takes the router offline")
  func will() async throws {
    let broker = try TestBroker()
    Recorder.current?.takesIn(below: "otbr")
    let installation = try Installation(broker, hold: 0, more: ForeignHub.rules)
    let audience = try await Audience.start(broker, "threadkeeper/#")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let topic = "threadkeeper/router/\(ForeignHub.agent)"
    try await publisher.publish(
      "otbr/kitchen/status", try ForeignHub.status(try ThreadNetwork("home"), ssid: "one"))
    try await audience.until("the router") { $0.state(topic)?["ssid"] == "one" }
    var configuration = broker.configuration(clientID: "otbr-kitchen")
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    configuration.lastWill = Publication(
      topic: "otbr/kitchen/LWT", payload: Array("Offline".utf8), retain: true)
    // Another connection with its client id ends the first one, whose will the broker publishes then.
    let one = TestClient(configuration) { _ in }
    try await one.ready()
    configuration.lastWill = nil
    let two = TestClient(configuration) { _ in }
    try await audience.until("the router offline") {
      $0.state("\(topic)/availability") == ["state": "offline"]
    }
    try await one.stop()
    try await two.stop()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The broker's session has no topics of a rule that was taken out of the settings")
  func takenOut() async throws {
    let broker = try TestBroker()
    Recorder.current?.takesIn(below: "otbr")
    let installation = try Installation(broker, mqtt: ["client_id: house"], more: ForeignHub.rules)
    let publisher = try await TestPublisher.start(broker)
    /// What waits in the daemon's session while it is away.
    func waiting() async throws -> [String] {
      let last = "threadkeeper/in/hub/heartbeat"
      try await publisher.publish("otbr/kitchen/status", "{}")
      try await publisher.publish(last, #"{"border_agent_id":"a1b2c3d4e5f60718"}"#)
      var configuration = broker.configuration(clientID: "house-intake")
      configuration.cleanStart = false
      configuration.sessionExpiry = 3_600
      let thief = TestClient(configuration)
      try await eventually("the session's messages") {
        thief.handler.record.messages.contains { $0.topic == last }
      }
      try await thief.stop()
      return thief.handler.record.messages.map(\.topic).filter { $0 != last }
    }
    var daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await waiting() == ["otbr/kitchen/status"])
    let text = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    let without = text.replacing(ForeignHub.rules, with: "")
    try #require(without.count < text.count)
    try Data(without.utf8).write(to: URL(fileURLWithPath: installation.configuration))
    daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await waiting() == [])
  }

  @Test("With MQTT 3.1.1 what the broker keeps is only counted, and what is live counts")
  func retained() async throws {
    let broker = try TestBroker()
    Recorder.current?.takesIn(below: "otbr")
    let installation = try Installation(broker, mqtt: ["protocol: 3.1.1"], more: ForeignHub.rules)
    let audience = try await Audience.start(broker, "threadkeeper/#")
    let publisher = try await TestPublisher.start(broker)
    let message = try ForeignHub.status(try ThreadNetwork("home"), ssid: "one")
    try await publisher.publish("otbr/kitchen/status", message, retain: true)
    let daemon = try await installation.start()
    try await audience.until("the count", within: .seconds(180)) {
      $0.state("threadkeeper/bridge/health")?["retained_ignored"] == 1
    }
    #expect(audience.look { $0.events("message_rejected").isEmpty })
    let topic = "threadkeeper/router/\(ForeignHub.agent)"
    #expect(audience.look { $0.latest[topic] == nil })
    try await publisher.publish("otbr/kitchen/status", message, retain: true)
    try await audience.until("the router") { $0.state(topic)?["ssid"] == "one" }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "With the access list that `acl` prints, the daemon reads the topics of its rules",
    arguments: [["--keep", "otbr"], []])
  func accessList(arguments: [String]) async throws {
    var list = try await Installation(port: 1883, more: ForeignHub.rules)
      .command(["acl"] + arguments).output
    if arguments.isEmpty {
      // What the guide has people add for a publisher that may write nothing else.
      list += try Handbook("docs/guides/ingest.md")
        .block(below: "From a message to a rule", with: "topic write otbr/#")
    }
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: "acl_file /etc/mosquitto/threadkeeper.acl\n",
      files: ["threadkeeper.acl": list], logins: ["threadkeeper", "otbr", "lamp"])
    let installation = try Installation(
      port: broker.port, mqtt: broker.settings, more: ForeignHub.rules)
    let daemon = try await installation.start()
    let message = try ForeignHub.status(try ThreadNetwork("home"), ssid: "one")
    let lamp = try await broker.publisher("lamp")
    #expect(try await lamp.publish("otbr/kitchen/status", message) != .delivered)
    let hub = try await broker.publisher("otbr")
    #expect(try await hub.publish("otbr/kitchen/status", message) == .delivered)
    try await eventually("the router") {
      try await installation.json("routers").list.first?["border_agent_id"]?.text
        == ForeignHub.agent
    }
    #expect(try await daemon.stop() == .exit(0))
  }
}
