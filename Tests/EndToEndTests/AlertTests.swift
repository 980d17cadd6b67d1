import Broker
import TestKit
import Testing

@Suite("Alerts", .inTurns, .timeLimit(.minutes(30))) struct AlertTests {
  @Test("After a restart no alert is published again but one that the broker does not have") func restart() async throws
  {
    let running = try await RunningHome()
    let (hub, strays) = (BorderRouter(number: 1), [BorderRouter(number: 2), BorderRouter(number: 3)])
    try await running.publish(hub.announces(try ThreadNetwork("home").hex()))
    try await running.until("the router") { $0.state(hub.topic) != nil }
    let guests = try ThreadNetwork("guests").hex()
    for router in strays { try await running.publish(router.announces(guests)) }
    try await running.until("the alerts") { $0.alerts("alert_raised", "PreferredNetworkMismatch").count == 2 }
    let topics = running.audience.look { heard in
      heard.latest.keys.filter { heard.state($0)?["alertname"] == "PreferredNetworkMismatch" && $0.contains("/alert/") }
    }
    let (kept, lost) = (try #require(topics.first), try #require(topics.last))
    func published(_ topic: String) -> Int { running.audience.look { $0.messages.count { $0.topic == topic } } }
    let before = published(kept)
    try await running.stop()
    try await running.publish(Publication(topic: lost, payload: [], retain: true))
    try await running.until("that it is gone") { $0.latest[lost] == "" }
    try await running.start()
    try await running.until("what was lost") { $0.state(lost)?["status"] == "firing" }
    #expect(topics.count == 2 && published(kept) == before)
    #expect(running.audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").count } == 2)
    try await running.stop()
  }

  @Test(
    "A Zigbee network on the channel of the preferred network is an info, as long as zigbee2mqtt says so, over a restart",
    arguments: ["5", "3.1.1"]) func zigbee(_ version: String) async throws
  {
    /// As zigbee2mqtt retains it: with a schema of its settings that is larger than any message of threadkeeper.
    func info(channel: Int) -> Publication {
      let schema = String(repeating: #"{"type":"string","title":"one setting"},"#, count: 3_000)
      let text = """
        {"commit":"a1","config":{"advanced":{"channel":\(channel)}},"config_schema":{"all":[\(schema)null]},\
        "network":{"channel":\(channel),"extended_pan_id":"0x00124b0012345678","pan_id":6754},"permit_join":false}
        """
      return Publication(topic: "zigbee2mqtt/bridge/info", payload: Array(text.utf8), retain: true)
    }
    func alerts(_ type: String) -> @Sendable (Audience.Heard) -> [JSON] { { $0.alerts(type, "ZigbeeSharesChannel") } }
    let broker = try TestBroker(extraConfiguration: ["max_packet_size 1048576"])
    let zigbee = try await TestPublisher.start(broker)
    try await zigbee.publish([info(channel: 15)])
    let running = try await RunningHome(on: broker, mqtt: ["protocol: \"\(version)\""])
    try await running.publish(BorderRouter(number: 1).announces(try ThreadNetwork("home", channel: 15).hex()))
    try await running.until("the alert") { !alerts("alert_raised")($0).isEmpty }
    let alert = try #require(running.audience.look(alerts("alert_raised")).first)
    #expect(alert["severity"] == "info")
    #expect(alert["summary"]?.text?.contains("channel, 15") == true)
    #expect(alert["remedy"]?.text?.contains("11–14 and 16–26") == true)

    // It has moved while the daemon was away.
    try await running.stop()
    try await zigbee.publish([info(channel: 20)])
    try await running.start()
    try await running.until("its end") { alerts("alert_resolved")($0).count == 1 }

    // And back while it runs; then zigbee2mqtt is gone for good.
    try await zigbee.publish([info(channel: 15)])
    try await running.until("the alert again") { alerts("alert_raised")($0).count == 2 }
    try await zigbee.publish([Publication(topic: "zigbee2mqtt/bridge/info", payload: [], retain: true)])
    try await running.until("its end") { alerts("alert_resolved")($0).count == 2 }
    try await running.stop()
  }
}
