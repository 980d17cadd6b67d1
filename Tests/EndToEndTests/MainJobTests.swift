import Foundation
import TestKit
import Testing

@Suite("The main job", .inTurns, .timeLimit(.minutes(30))) struct MainJobTests {
  private func expect(_ state: JSON?, has fields: [String: JSON], _ location: SourceLocation = #_sourceLocation) {
    for (name, value) in fields { #expect(state?[name] == value, "\(name)", sourceLocation: location) }
  }

  @Test("Announcements become encrypted credentials, retained state, and an alert after the hold") func announcement()
    async throws
  {
    let running = try await RunningHome(hold: 1)
    let (installation, audience) = (running.installation, running.audience)
    let home = try ThreadNetwork("home", channel: 15)
    let router = BorderRouter("a1b2c3d4e5f60718")
    let networkTopic = "threadkeeper/network/\(home.extendedPANID)"

    try await running.publish(
      router.says(
        "announce", ("name", #""Living room""#), ("vendor", #""Acme""#), ("model", #""X1""#),
        ("ext_address", #""0011223344556677""#), ("dataset", "\"\(try home.hex())\"")),
      router.says("ssid", ("ssid", #""home-wifi""#)))
    try await audience.until("router, network and overview") {
      $0.state(router.topic)?["ssid"] == "home-wifi" && $0.state(networkTopic)?["routers"] == 1
        && $0.state("threadkeeper/bridge/info")?["routers"] == 1
    }
    expect(
      audience.state(router.topic),
      has: [
        "v": 1, "home": "home", "border_agent_id": .text(router.agent), "name": "Living room", "vendor": "Acme",
        "model": "X1", "ext_address": "0011223344556677", "user": "border-router", "availability": "online",
        "credentials": "stored", "ext_pan_id": .text(home.extendedPANID), "network_name": "home", "channel": 15,
        "pan_id": .number(home.panID), "active_timestamp": 1, "preferred": "match",
      ])
    #expect(audience.state("\(router.topic)/availability") == ["state": "online"])
    expect(
      audience.state(networkTopic),
      has: ["v": 1, "network_name": "home", "channel": 15, "routers": 1, "routers_online": 1, "preferred": true])
    #expect(audience.state("threadkeeper/bridge/state") == ["state": "online"])
    expect(
      audience.state("threadkeeper/bridge/info"),
      has: [
        "preferred_network": ["network_name": "home", "ext_pan_id": .text(home.extendedPANID)], "networks": 1,
        "alerts_hold": 1,
      ])
    #expect(audience.state("threadkeeper/bridge/health")?["intake"] == "running")
    let types = audience.look { heard in heard.events.compactMap { $0["event_type"]?.text } }
    #expect(Set(types) == ["router_announced", "dataset_stored", "preferred_changed"])
    #expect(audience.look { $0.latest["\(router.topic)/event"] } != nil)

    // Whoever subscribes later finds the same: all of it is retained.
    let late = try await Audience.start(running.broker)
    try await late.until("what is retained") { heard in
      [router.topic, "\(router.topic)/availability", networkTopic].allSatisfy {
        heard.latest[$0] == audience.look { $0 }.latest[$0]
      }
    }
    #expect(late.look { $0.latest["threadkeeper/bridge/event"] } == nil)
    #expect(try await installation.dataset(of: router.agent) == (try home.hex()))

    // Another router is on another network.
    let guests = try ThreadNetwork("guest-thread")
    let stray = BorderRouter("a1b2c3d4e5f60702")
    try await running.publish(stray.announces(try guests.hex()))
    try await audience.until("the alert") { !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty }
    let raised = try #require(audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch") }.first)
    // Held for a second of the daemon's own clock; it writes whole ones.
    #expect(raised["starts_at"]?.text != raised["updated_at"]?.text)
    let topic = "threadkeeper/alert/\(raised["fingerprint"]?.text ?? "")"
    try await audience.until("the retained alert and the overview") {
      $0.state(topic) != nil && $0.state("threadkeeper/bridge/alerts")?["warning"] == 1
    }
    let alert = try #require(audience.state(topic))
    expect(
      alert,
      has: [
        "v": 1, "status": "firing", "severity": "warning", "alertname": "PreferredNetworkMismatch",
        "router": .text(stray.agent), "network_name": "guest-thread", "ext_pan_id": .text(guests.extendedPANID),
        "preferred_network_name": "home", "preferred_ext_pan_id": .text(home.extendedPANID), "trigger": "announce",
        "ends_at": .null, "seq": 1,
      ])
    #expect(alert["differs"]?.list.contains("network_key") == true)
    #expect(alert["summary"]?.text?.contains("guest-thread") == true)
    #expect(alert["remedy"]?.text?.isEmpty == false)
    #expect(try await installation.json("alerts").list.contains { $0["fingerprint"] == raised["fingerprint"] })

    try await running.publish(stray.changes(to: try home.hex()))
    try await audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty && $0.state(topic)?["status"] == "resolved"
    }
    #expect(audience.state(topic)?["seq"] == 2 && audience.state(topic)?["ends_at"] != .null)
    #expect(audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").count } == 1)
    try await running.stop()
    #expect(try await installation.dataset(of: router.agent) == (try home.hex()))
    let lines = running.daemon.log.split(separator: "\n")
    for (text, detail) in [
      ("border router announced", "border_agent_id=\(stray.agent)"), ("preferred network changed", "network_name=home"),
      ("alert", "alertname=PreferredNetworkMismatch"), ("alert resolved", "alertname=PreferredNetworkMismatch"),
    ] { #expect(lines.contains { $0.contains(" \(text)  ") && $0.contains(detail) }, "\(text)") }
  }

  @Test("A home that moves to another base topic leaves nothing behind on the old one") func baseTopic() async throws {
    let running = try await RunningHome(mqtt: ["base_topic: old/place", "client_id: house"])
    let (installation, audience) = (running.installation, running.audience)
    let home = try ThreadNetwork("home")
    let router = BorderRouter("a1b2c3d4e5f60701", base: "old/place")
    try await running.publish(router.announces(try home.hex()))
    try await audience.until("the router") { $0.state(router.topic) != nil }
    try await running.stop()

    let text = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "old/place", with: "new/place").utf8).write(
      to: URL(fileURLWithPath: installation.configuration))
    try await running.start()
    let moved = BorderRouter("a1b2c3d4e5f60701", base: "new/place")
    try await audience.until("everything at the new place, and nothing at the old one") { heard in
      heard.state(moved.topic)?["credentials"] == "stored"
        && heard.state("new/place/network/\(home.extendedPANID)") != nil
        && heard.latest.allSatisfy {
          !$0.key.hasPrefix("old/place/") || $0.key.contains("/event") || $0.value == ""
            || $0.key == "old/place/bridge/daemon"
        }
    }
    try await running.stop()

    // Nor does the broker's session go on with the old one.
    let last = moved.says("heartbeat")
    try await running.publish(router.announces(try home.hex()), last)
    var session = running.broker.configuration(clientID: "house-intake")
    session.cleanStart = false
    session.sessionExpiry = 3_600
    let client = TestClient(session)
    try await eventually("what waits in the session") {
      client.handler.record.messages.contains { $0.topic == last.topic }
    }
    try await client.stop()
    #expect(client.handler.record.messages.map(\.topic) == [last.topic])
  }
}
