// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// Home Assistant's discovery, from a real daemon on a real Mosquitto.
@Suite("Devices for Home Assistant", .inTurns, .timeLimit(.minutes(30)))
struct HomeAssistantDeviceTests {
  private static let bridge = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config"
  private static let devices = "homeassistant/device/threadkeeper/+/config"

  private static func topic(_ router: BorderRouter) -> String {
    "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_\(router.agent)/config"
  }

  /// Topics of the devices that were announced since the subscription, in their order. A removal may be said twice:
  /// by who removes, and by the look at what the broker keeps.
  private func news(_ audience: Audience) -> [String] {
    audience.look { heard in
      heard.messages.filter { $0.topic.contains("/device/") && !$0.payload.isEmpty }.map(\.topic)
    }
  }

  /// Topics that the broker keeps: somebody who comes now is handed out just these, and may hear a removal.
  private func retained(_ broker: TestBroker) async throws -> Set<String> {
    let audience = try await Audience.start(broker)
    try await audience.caughtUp()
    defer { Task { try await audience.stop() } }
    return Set(
      audience.look { heard in
        heard.messages.filter { $0.topic.contains("/device/") && !$0.payload.isEmpty }.map(\.topic)
      })
  }

  @Test("Announced once; a restart announces nothing, and removes a router that went meanwhile")
  func life() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let network = try ThreadNetwork("home").hex()
    let (first, second) = (BorderRouter(number: 1), BorderRouter(number: 2))
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    try await publisher.publish([first.announces(network), second.announces(network)])
    try await audience.until("the devices") { $0.latest[Self.topic(second)] != nil }
    try await audience.until("the devices") { $0.latest[Self.topic(first)] != nil }
    #expect(news(audience).first == Self.bridge)
    #expect(news(audience).sorted() == [Self.bridge, Self.topic(first), Self.topic(second)])
    // Every topic that a device names is there, but for those that only carry events.
    for topic in [Self.bridge, Self.topic(first)] {
      let device = try #require(audience.state(topic))
      let components = try #require(device["components"])
      for key in components.keys {
        guard let entity = components[key], entity.keys != ["platform"],
          entity["platform"]?.text != "event"
        else { continue }
        let state = try #require(entity["state_topic"]?.text, "\(key)")
        try await audience.until(state) { $0.latest[state] != nil }
      }
    }
    try await eventually("all of it on disk") {
      try await installation.json("status")["routers"] == 2
    }
    #expect(try await daemon.stop() == .exit(0))

    daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
    try await audience.caughtUp()
    #expect(news(audience).count == 3)

    try await publisher.publish([second.leaves])
    daemon = try await installation.start()
    try await audience.until("the removal") { $0.latest[Self.topic(second)] == "" }
    #expect(try await retained(broker) == [Self.bridge, Self.topic(first)])
    try await publisher.publish([first.leaves])
    try await audience.until("the removal") { $0.latest[Self.topic(first)] == "" }
    #expect(try await daemon.stop() == .exit(0))
    try await audience.caughtUp()
    #expect(news(audience).count == 3)
  }

  @Test("A router that was offline and is back says so, once, in the entity of its events")
  func back() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try await publisher.publish([
      router.says(
        "announce", ("name", "\"Attic\""),
        ("dataset", "\"\(try ThreadNetwork("home").hex())\"")),
      router.says("offline"), router.says("heartbeat"), router.says("heartbeat"),
    ])
    let topic = "\(router.topic)/event"
    func news() -> [JSON] {
      audience.look { heard in
        heard.messages.filter { $0.topic == topic }
          .compactMap { JSON(String(decoding: $0.payload, as: UTF8.self)) }
          .filter { $0["event_type"] == "router_online" }
      }
    }
    try await eventually("the event") { !news().isEmpty }
    #expect(news().map { $0["message"]?.text } == [#""Attic" is back"#])
    let device = try #require(audience.state(Self.topic(router)))
    let event = try #require(device["components"]?["event"])
    #expect(event["state_topic"]?.text == topic)
    #expect(event["event_types"]?.list.contains("router_online") == true)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Switched off, or with another prefix, no former device is left")
  func moved() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the device") { $0.latest[Self.topic(router)] != nil }
    #expect(try await daemon.stop() == .exit(0))

    func restart(_ line: String) async throws -> DaemonProcess {
      let path = installation.configuration
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let rest = text.components(separatedBy: "\nhome_assistant:")[0]
      try Data("\(rest)\nhome_assistant:\n  \(line)\n".utf8).write(to: URL(fileURLWithPath: path))
      return try await installation.start()
    }
    daemon = try await restart("prefix: other")
    try await eventually("the devices at the other prefix") {
      let topics = try await retained(broker)
      return topics.count == 2 && topics.allSatisfy { $0.hasPrefix("other/device/") }
    }
    #expect(try await daemon.stop() == .exit(0))
    daemon = try await restart("discovery: off")
    try await eventually("no device") { try await retained(broker).isEmpty }
    #expect(try await daemon.stop() == .exit(0))
    daemon = try await restart("discovery: on")
    try await eventually("both devices") {
      try await retained(broker) == [Self.bridge, Self.topic(router)]
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A birth is answered with devices, then who is there, then the states",
    arguments: [false, true])
  func birth(isRetained: Bool) async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, more: "home_assistant: {prefix: ha}")
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    var daemon = try await installation.start()
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await eventually("the router") { try await installation.json("status")["routers"] == 1 }
    // A daemon that has just published everything would wait for a minute.
    #expect(try await daemon.stop() == .exit(0))
    daemon = try await installation.start()
    let audience = try await Audience.start(broker)
    try await audience.caughtUp()
    try await publisher.publish("ha/status", "online", retain: isRetained)
    func answer(_ heard: Audience.Heard) -> [String] {
      let birth = heard.messages.lastIndex { $0.topic == "ha/status" } ?? heard.messages.endIndex
      return heard.messages[birth...].dropFirst().map(\.topic)
    }
    try await audience.until("the state") { answer($0).contains(router.topic) }
    let device = "ha/device/threadkeeper/threadkeeper_threadkeeper"
    let order = [
      "\(device)/config", "\(device)_\(router.agent)/config", "threadkeeper/bridge/state",
      "\(router.topic)/availability", router.topic,
    ]
    #expect(audience.look(answer).filter { order.contains($0) } == order)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "An access list without them: said once with the remedy, shown by status, and announced when it is new"
  )
  func olderAccessList() async throws {
    let broker = try TestBroker(
      logins: [
        .init("threadkeeper", role: .daemon), .init("border-router"),
        .init("monitor", role: .monitor),
      ], persistence: true)
    let file = try #require(
      try FileManager.default.contentsOfDirectory(atPath: broker.directory).map {
        "\(broker.directory)/\($0)"
      }.first { path in
        (try? String(contentsOfFile: path, encoding: .utf8).contains("topic write homeassistant"))
          == true && !path.hasSuffix(".conf")
      })
    let full = try String(contentsOfFile: file, encoding: .utf8)
    let older = full.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("/device/") }.joined(separator: "\n")
    func use(_ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let pid = try String(contentsOfFile: "\(broker.directory)/mosquitto.pid", encoding: .utf8)
      let process = try #require(Int32(pid.filter(\.isNumber)))
      try #require(kill(process, SIGHUP) == 0)
    }
    try use(older)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: \(password)"])
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let audience = try await Audience.start(broker, user: "monitor")
    var daemon = try await installation.start()
    let network = try ThreadNetwork("home").hex()
    try await publisher.publish((1...40).map { BorderRouter(number: $0).announces(network) })
    try await audience.until("the states") { $0.state(BorderRouter(number: 40).topic) != nil }
    try await eventually("the refusal in status") {
      try await installation.json("status")["refused"]?["remedy"]?.text?.contains(
        "home_assistant.discovery: off") == true
    }
    let lines = daemon.log.split(separator: "\n").filter { $0.contains("refuses a device") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("threadkeeper acl") == true)
    #expect(try await daemon.stop() == .exit(0))
    #expect(news(audience).isEmpty)

    try use(full)
    daemon = try await installation.start()
    try await audience.until("all devices") { heard in
      heard.latest.keys.filter { $0.contains("/device/") }.count == 41
    }
    #expect(news(audience).count == 41)
    #expect(try await installation.json("status")["refused"] == nil)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("500 routers are at most one message each")
  func many() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let audience = try await Audience.start(broker, Self.devices)
    let daemon = try await installation.start()
    let network = try ThreadNetwork("home").hex()
    try await publisher.publish((1...500).map { BorderRouter(number: $0).announces(network) })
    try await audience.until("501 devices") { $0.latest.count == 501 }
    try await eventually("everything is acknowledged") {
      try await installation.json("status")["routers"] == 500
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(news(audience).count == 501)
    #expect(Set(news(audience)).count == 501)
  }
}
