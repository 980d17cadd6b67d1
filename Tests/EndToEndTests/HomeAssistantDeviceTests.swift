import Foundation
import TestKit
import Testing

/// Home Assistant's discovery, from a real daemon on a real Mosquitto.
@Suite("Devices for Home Assistant", .inTurns, .timeLimit(.minutes(30))) struct HomeAssistantDeviceTests {
  private static let bridge = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config"

  /// Topics of the devices that were announced since the subscription, in their order. A removal may be said twice:
  /// by who removes, and by the look at what the broker keeps.
  private func news(_ audience: Audience) -> [String] {
    audience.look { heard in heard.messages.filter { $0.topic.contains("/device/") && !$0.payload.isEmpty }.map(\.topic)
    }
  }

  @Test("Announced once; a restart announces nothing, and removes a router that went meanwhile") func life()
    async throws
  {
    let running = try await RunningHome()
    let audience = running.audience
    let network = try ThreadNetwork("home").hex()
    let (first, second) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await running.publish(first.announces(network), second.announces(network))
    try await running.until("the devices") { $0.latest[first.device] != nil && $0.latest[second.device] != nil }
    #expect(news(audience).first == Self.bridge)
    #expect(news(audience).sorted() == [Self.bridge, first.device, second.device])
    // Every topic that a device names is there, but for those that only carry events.
    for topic in [Self.bridge, first.device] {
      let components = try #require(running.state(topic)?["components"])
      for key in components.keys {
        guard let entity = components[key], entity.keys != ["platform"], entity["platform"]?.text != "event" else {
          continue
        }
        let state = try #require(entity["state_topic"]?.text, "\(key)")
        try await running.until(state) { $0.latest[state] != nil }
      }
    }
    try await eventually("all of it on disk") { try await running.installation.status()["routers"] == 2 }
    try await running.restart()
    try await running.stop()
    try await audience.caughtUp()
    #expect(news(audience).count == 3)

    try await running.publish(second.leaves)
    try await running.start()
    try await running.until("the removal") { $0.latest[second.device] == "" }
    let late = try await Audience.start(running.broker)
    try await late.caughtUp()
    #expect(Set(news(late)) == [Self.bridge, first.device])
    try await running.publish(first.leaves)
    try await running.until("the removal") { $0.latest[first.device] == "" }
    try await running.stop()
    try await audience.caughtUp()
    #expect(news(audience).count == 3)
  }

  @Test("A birth is answered with devices, then who is there, then the states") func birth() async throws {
    let running = try await RunningHome(more: "home_assistant: {prefix: ha}")
    let router = BorderRouter(number: 1)
    try await running.publish(router.announces(try ThreadNetwork("home").hex()))
    // Its last state before the restart, which is not to be taken for one of the start.
    try await running.until("the router") { $0.state(router.topic)?["preferred"] == "match" }
    // A daemon that has just published everything would wait for a minute.
    func states(_ heard: Audience.Heard) -> Int { heard.messages.count { $0.topic == router.topic } }
    let before = running.audience.look(states)
    try await running.restart()
    try await running.until("what each start publishes") { states($0) > before }
    try await running.publisher.publish("ha/status", "online")
    func answer(_ heard: Audience.Heard) -> [String] {
      let birth = heard.messages.lastIndex { $0.topic == "ha/status" } ?? heard.messages.endIndex
      return heard.messages[birth...].dropFirst().map(\.topic)
    }
    try await running.until("the state") { answer($0).contains(router.topic) }
    let device = "ha/device/threadkeeper/threadkeeper_threadkeeper"
    let order = [
      "\(device)/config", "\(device)_\(router.agent)/config", "threadkeeper/bridge/state",
      "\(router.topic)/availability", router.topic,
    ]
    #expect(running.audience.look(answer).filter { order.contains($0) } == order)
    try await running.stop()
  }
}
