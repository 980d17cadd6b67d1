import Foundation
import TestKit
import Testing

@Suite("What the broker keeps", .inTurns, .timeLimit(.minutes(30))) struct RetainTests {
  @Test("The broker keeps what the AsyncAPI document says is retained, and nothing else") func retained() async throws {
    let document = try AsyncAPIDocument.shared.get()
    let running = try await RunningHome()
    let (home, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await running.publish(
      home.announces(try ThreadNetwork("home").hex()), stray.announces(try ThreadNetwork("guests").hex()))
    try await running.until("the mismatch, and the device of the router") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty && $0.latest[stray.device] != nil
        && $0.latest["threadkeeper/bridge/consent"] != nil
    }
    try await running.stop()

    let later = try await Audience.start(running.broker)
    try await later.caughtUp()
    let kept = Set(later.look { $0.messages }.filter(\.isRetained).map(\.topic))
    try await running.audience.caughtUp()
    var seen: Set<String> = []
    for (topic, payload) in running.audience.look({ $0.latest }) where !topic.hasPrefix("audience/") {
      let isDevice = topic.hasPrefix("homeassistant/")
      let channel = try #require(
        isDevice ? document.channel(named: "homeAssistantDevice") : document.channel(of: topic, below: "threadkeeper"),
        "\(topic)")
      let operation = try #require(document.sending(channel), "\(topic)")
      #expect(kept.contains(topic) == (operation.isRetained == true && !payload.isEmpty), "\(topic)")
      seen.insert(channel.name)
    }
    #expect(
      seen.isSuperset(of: [
        "alert", "bridgeAlertEvent", "bridgeAlerts", "bridgeConsent", "bridgeEvent", "bridgeHealth", "bridgeInfo",
        "bridgeState", "homeAssistantDevice", "network", "router", "routerAvailability", "routerEvent",
      ]), "\(seen.sorted())")
  }

  /// A broker that saves seldom and is killed brings back what was retained, and what was empty, when it saved.
  @Test(
    "Routers that left, alerts that are over and states that changed do not come back",
    arguments: zip(["5", "'3.1.1'"], [false, true])) func killed(version: String, restarts: Bool) async throws
  {
    let running = try await RunningHome(
      on: TestBroker(persistence: true, extraConfiguration: ["autosave_interval 86400"]), mqtt: ["protocol: \(version)"]
    )
    let broker = running.broker
    let network = try ThreadNetwork("home")
    let (hub, left, stray) = (BorderRouter(number: 1), BorderRouter(number: 2), BorderRouter(number: 3))
    try await running.publish(
      hub.announces(try network.hex()), left.announces(try network.hex()),
      stray.announces(try ThreadNetwork("guests").hex()))
    func alert(_ heard: Audience.Heard) -> String? {
      heard.latest.keys.first {
        $0.hasPrefix("threadkeeper/alert/") && heard.state($0)?["alertname"] == "PreferredNetworkMismatch"
      }
    }
    try await running.until("the routers, and the alert") { heard in
      [hub, left, stray].allSatisfy { heard.latest[$0.topic + "/availability"] != nil } && alert(heard) != nil
        && heard.latest[left.device] != nil
        // Events come after all states: what the broker saves now is up to date.
        && heard.alerts("alert_raised", "PreferredNetworkMismatch").count == 1
    }
    let mismatch = try #require(running.audience.look(alert))
    try await save(broker)

    let new = BorderRouter(number: 4)
    try await running.publish(left.leaves, stray.changes(to: try network.hex()), new.announces(try network.hex()))
    try await running.until("the changes") { heard in
      heard.latest[left.topic] == "" && heard.latest[left.device] == "" && heard.latest[new.topic] != nil
        && heard.alerts("alert_resolved", "PreferredNetworkMismatch").count == 1
    }
    if restarts { try await running.stop() }
    Recorder.current?.brokersMayForget()
    broker.kill()
    try broker.start()
    if restarts { try await running.start() }
    let audience = try await Audience.start(broker)
    try await audience.caughtUp()
    try await audience.until("what is true") { heard in
      [left.topic, left.topic + "/availability", left.device].allSatisfy { heard.latest[$0, default: ""].isEmpty }
        && heard.state(mismatch)?["status"] == "resolved"
        && heard.state(stray.topic)?["network_name"] == heard.state(hub.topic)?["network_name"]
        && heard.latest[new.topic] != nil
    }
    let alerts = audience.look { heard in
      heard.latest.keys.filter { $0.hasPrefix("threadkeeper/alert/") }.compactMap {
        heard.state($0)?["alertname"]?.text
      }
    }
    #expect(!alerts.contains("DiscoveryAltered"), "\(running.daemon.log)")
    try await running.stop()
  }

  /// Has the broker write its file, and waits for that.
  private func save(_ broker: TestBroker) async throws {
    let file = broker.directory + "/data/mosquitto.db"
    func written() -> Date? {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      return attributes?[.modificationDate] as? Date
    }
    let before = written()
    try broker.signal(SIGUSR1)
    try await eventually("the broker's file") { written() != before }
  }
}
