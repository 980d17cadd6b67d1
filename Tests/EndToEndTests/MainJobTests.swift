// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("The main job", .inTurns, .timeLimit(.minutes(30)))
struct MainJobTests {
  @Test("An announcement becomes encrypted credentials and retained state")
  func announcement() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home", channel: 15)
    let router = BorderRouter("a1b2c3d4e5f60718")

    try await publisher.publish([
      router.says(
        "announce", ("name", #""Living room""#), ("vendor", #""Acme""#), ("model", #""X1""#),
        ("ext_address", #""0011223344556677""#), ("dataset", "\"\(try home.hex())\"")),
      router.says("ssid", ("ssid", #""home-wifi""#)),
    ])
    try await audience.until("router, network and overview") {
      $0.state(router.topic)?["ssid"] == "home-wifi"
        && $0.state("threadkeeper/network/\(home.extendedPANID)")?["routers"] == 1
        && $0.state("threadkeeper/bridge/info")?["routers"] == 1
    }

    let state = try #require(audience.state(router.topic))
    #expect(state["v"] == 1)
    #expect(state["home"] == "home")
    #expect(state["border_agent_id"] == "a1b2c3d4e5f60718")
    #expect(state["name"] == "Living room")
    #expect(state["vendor"] == "Acme")
    #expect(state["model"] == "X1")
    #expect(state["ext_address"] == "0011223344556677")
    #expect(state["user"] == "border-router")
    #expect(state["availability"] == "online")
    #expect(state["credentials"] == "stored")
    #expect(state["ext_pan_id"]?.text == home.extendedPANID)
    #expect(state["network_name"] == "home")
    #expect(state["channel"] == 15)
    #expect(state["pan_id"]?.number == home.panID)
    #expect(state["active_timestamp"] == 1)
    #expect(state["preferred"] == "match")
    #expect(audience.state("\(router.topic)/availability") == ["state": "online"])

    let network = try #require(audience.state("threadkeeper/network/\(home.extendedPANID)"))
    #expect(network["v"] == 1)
    #expect(network["network_name"] == "home")
    #expect(network["channel"] == 15)
    #expect(network["routers"] == 1)
    #expect(network["routers_online"] == 1)
    #expect(network["preferred"] == true)

    #expect(audience.state("threadkeeper/bridge/state") == ["state": "online"])
    let info = try #require(audience.state("threadkeeper/bridge/info"))
    #expect(
      info["preferred_network"]
        == ["network_name": "home", "ext_pan_id": .text(home.extendedPANID)])
    #expect(info["networks"] == 1)
    #expect(info["alerts_hold"] == 1)
    #expect(audience.state("threadkeeper/bridge/health")?["intake"] == "running")

    let types = audience.look { heard in heard.events.compactMap { $0["event_type"]?.text } }
    #expect(Set(types) == ["router_announced", "dataset_stored", "preferred_changed"])
    #expect(audience.look { $0.latest["\(router.topic)/event"] } != nil)

    // Whoever subscribes later finds the same: all of it is retained.
    let late = try await Audience.start(broker)
    try await late.until("what is retained") { heard in
      [router.topic, "\(router.topic)/availability", "threadkeeper/network/\(home.extendedPANID)"]
        .allSatisfy { heard.latest[$0] == audience.look { $0 }.latest[$0] }
    }
    #expect(late.look { $0.latest["threadkeeper/bridge/event"] } == nil)

    #expect(try await installation.dataset(of: router.agent) == (try home.hex()))
    let list = try await installation.json("credentials", "list").list
    #expect(list.count == 1)
    #expect(list.first?["border_agent_id"]?.text == router.agent)
    #expect(list.first?["network_name"] == "home")
    #expect(list.first?["dataset"] == nil)
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await installation.dataset(of: router.agent) == (try home.hex()))
  }

  @Test("A router on another network raises an alert after the hold, and none before")
  func mismatch() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 2)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter("a1b2c3d4e5f60701")
    let stray = BorderRouter("a1b2c3d4e5f60702")

    try await publisher.publish([hub.announces(try home.hex())])
    try await publisher.publish([stray.announces(try guests.hex())])
    try await audience.until("the mismatch in the state") {
      $0.state(stray.topic)?["preferred"] == "mismatch"
    }
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    let raised = try #require(
      audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch") }.first)
    // Held for two seconds of the daemon's own clock; it writes whole ones.
    #expect(raised["starts_at"]?.text != raised["updated_at"]?.text)
    let fingerprint = try #require(raised["fingerprint"]?.text)
    #expect(fingerprint.count == 16)
    let topic = "threadkeeper/alert/\(fingerprint)"
    try await audience.until("the retained alert and the overview") {
      $0.state(topic) != nil
        && $0.state("threadkeeper/bridge/alerts")?["warning"] == 1
    }
    let alert = try #require(audience.state(topic))
    #expect(alert["v"] == 1)
    #expect(alert["status"] == "firing")
    #expect(alert["severity"] == "warning")
    #expect(alert["alertname"] == "PreferredNetworkMismatch")
    #expect(alert["router"]?.text == stray.agent)
    #expect(alert["network_name"] == "guest-thread")
    #expect(alert["ext_pan_id"]?.text == guests.extendedPANID)
    #expect(alert["preferred_network_name"] == "home")
    #expect(alert["preferred_ext_pan_id"]?.text == home.extendedPANID)
    #expect(alert["differs"]?.list.contains("network_key") == true)
    #expect(alert["differs"]?.list.contains("ext_pan_id") == true)
    #expect(alert["trigger"] == "announce")
    #expect(alert["summary"]?.text?.contains("guest-thread") == true)
    #expect(alert["remedy"]?.text?.isEmpty == false)
    #expect(alert["ends_at"] == .null)
    #expect(alert["seq"] == 1)
    #expect(
      try await installation.json("alerts").list.contains {
        $0["fingerprint"] == raised["fingerprint"]
      })

    try await publisher.publish([stray.changes(to: try home.hex())])
    try await audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && $0.state(topic)?["status"] == "resolved"
    }
    #expect(audience.state(topic)?["seq"] == 2)
    #expect(audience.state(topic)?["ends_at"] != .null)
    #expect(audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").count } == 1)
    #expect(
      try await installation.json("alerts").list.allSatisfy {
        $0["alertname"] != "PreferredNetworkMismatch"
      })
    #expect(try await daemon.stop() == .exit(0))
    let lines = daemon.log.split(separator: "\n")
    for (text, detail) in [
      ("border router announced", "border_agent_id=\(stray.agent)"),
      ("preferred network changed", "network_name=home"),
      ("alert", "alertname=PreferredNetworkMismatch"),
      ("alert resolved", "alertname=PreferredNetworkMismatch"),
    ] {
      #expect(lines.contains { $0.contains(" \(text)  ") && $0.contains(detail) }, "\(text)")
    }
  }
}
