// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// A broker that saves seldom and is killed brings back what was retained, and what was empty, when it saved.
@Suite("A broker that was killed", .inTurns, .timeLimit(.minutes(30)))
struct KilledBrokerTests {
  /// Has it write its file, and waits for that.
  private func save(_ broker: TestBroker) async throws {
    let file = broker.directory + "/data/mosquitto.db"
    let text = try String(contentsOfFile: broker.directory + "/mosquitto.pid", encoding: .utf8)
    let process = try #require(Int32(text.filter(\.isNumber)))
    func written() -> Date? {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      return attributes?[.modificationDate] as? Date
    }
    let before = written()
    #expect(kill(process, SIGUSR1) == 0)
    try await eventually("the broker's file") { written() != before }
  }

  @Test(
    "Routers that left, alerts that are over and states that changed do not come back",
    arguments: ["5", "'3.1.1'"], [false, true])
  func emptied(version: String, restarts: Bool) async throws {
    let broker = try TestBroker(
      persistence: true, extraConfiguration: ["autosave_interval 86400"])
    let installation = try Installation(broker, mqtt: ["protocol: \(version)"], hold: 0)
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let network = try ThreadNetwork("home")
    let (hub, left, stray) = (
      BorderRouter(number: 1), BorderRouter(number: 2), BorderRouter(number: 3)
    )
    let device = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_\(left.agent)/config"
    var audience = try await Audience.start(broker)
    try await publisher.publish([
      hub.announces(try network.hex()), left.announces(try network.hex()),
      stray.announces(try ThreadNetwork("guests").hex()),
    ])
    try await audience.until("the routers, and the alert") { heard in
      [hub, left, stray].allSatisfy { heard.latest[$0.topic + "/availability"] != nil }
        && heard.alerts("alert_raised", "PreferredNetworkMismatch").count == 1
        && heard.latest[device] != nil
    }
    let alert = try #require(
      audience.look { heard in
        heard.latest.keys.first {
          $0.hasPrefix("threadkeeper/alert/")
            && heard.state($0)?["alertname"] == "PreferredNetworkMismatch"
        }
      })
    try await save(broker)

    let new = BorderRouter(number: 4)
    try await publisher.publish([
      left.leaves, stray.changes(to: try network.hex()), new.announces(try network.hex()),
    ])
    try await audience.until("the changes") { heard in
      heard.latest[left.topic] == "" && heard.latest[device] == ""
        && heard.latest[new.topic] != nil
        && heard.alerts("alert_resolved", "PreferredNetworkMismatch").count == 1
    }
    if restarts { #expect(try await daemon.stop() == .exit(0)) }
    Recorder.current?.brokersMayForget()
    broker.kill()
    try broker.start()
    if restarts { daemon = try await installation.start() }
    audience = try await Audience.start(broker)
    try await audience.caughtUp()
    try await audience.until("what is true") { heard in
      [left.topic, left.topic + "/availability", device].allSatisfy {
        heard.latest[$0, default: ""].isEmpty
      } && heard.state(alert)?["status"] == "resolved"
        && heard.state(stray.topic)?["network_name"] == heard.state(hub.topic)?["network_name"]
        && heard.latest[new.topic] != nil
    }
    let alerts = audience.look { heard in
      heard.latest.keys.filter { $0.hasPrefix("threadkeeper/alert/") }
        .compactMap { heard.state($0)?["alertname"]?.text }
    }
    #expect(!alerts.contains("DiscoveryAltered"))
    #expect(try await daemon.stop() == .exit(0))
  }
}
