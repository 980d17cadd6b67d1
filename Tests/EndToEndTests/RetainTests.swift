// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("What the broker keeps", .inTurns, .timeLimit(.minutes(30)))
struct RetainTests {
  @Test("The broker keeps what the AsyncAPI document says is retained, and nothing else")
  func retained() async throws {
    let document = try AsyncAPIDocument.shared.get()
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let (home, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await publisher.publish([
      home.announces(try ThreadNetwork("home").hex()),
      stray.announces(try ThreadNetwork("guests").hex()),
    ])
    let device = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_\(stray.agent)/config"
    try await audience.until("the mismatch, and the device of the router") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty && $0.latest[device] != nil
        && $0.latest["threadkeeper/bridge/consent"] != nil
    }
    #expect(try await daemon.stop() == .exit(0))

    let later = try await Audience.start(broker)
    try await later.caughtUp()
    let kept = Set(later.look { $0.messages }.filter(\.isRetained).map(\.topic))
    try await audience.caughtUp()
    var seen: Set<String> = []
    for (topic, payload) in audience.look({ $0.latest }) where !topic.hasPrefix("audience/") {
      let isDevice = topic.hasPrefix("homeassistant/")
      let channel = try #require(
        isDevice
          ? document.channel(named: "homeAssistantDevice")
          : document.channel(of: topic, below: "threadkeeper"), "\(topic)")
      let operation = try #require(document.sending(channel), "\(topic)")
      #expect(
        kept.contains(topic) == (operation.isRetained == true && !payload.isEmpty), "\(topic)")
      seen.insert(channel.name)
    }
    #expect(
      seen.isSuperset(of: [
        "alert", "bridgeAlertEvent", "bridgeAlerts", "bridgeConsent", "bridgeEvent", "bridgeHealth",
        "bridgeInfo", "bridgeState", "homeAssistantDevice", "network", "router",
        "routerAvailability", "routerEvent",
      ]), "\(seen.sorted())")
  }
}
