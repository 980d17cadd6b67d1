// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Settings
import TestKit
import Testing

/// The example automation that publishes what a phone sees, with a real daemon.
@Suite("The example automation for a phone's SSID", .inTurns, .timeLimit(.minutes(30)))
struct PhoneSSIDTests {
  private let automation: YAMLNode

  init() throws {
    let text = try ProjectFiles.text(of: "examples/home-assistant/threadkeeper-phone-ssid.yaml")
    automation = try #require(try YAMLNode.read(text)?.items.first)
  }

  private func conditions() throws -> [YAMLNode] { try #require(automation["conditions"]).items }

  /// What `{{ {'name': expression, …} | to_json }}` becomes.
  private func render(_ template: String, _ values: [String: String]) throws -> [UInt8] {
    let match = try #require(template.wholeMatch(of: #/\{\{ \{(.*)\} \| to_json \}\}/#))
    var object: [String: String] = [:]
    for member in match.output.1.components(separatedBy: ", ") {
      let sides = member.components(separatedBy: "': ")
      try #require(sides.count == 2 && sides[0].hasPrefix("'"))
      let value: String = try #require(values[sides[1]], "\(sides[1])")
      object[String(sides[0].dropFirst())] = value
    }
    return Array(try JSONSerialization.data(withJSONObject: object))
  }

  @Test("It waits for the state of the phone's sensor, at home, and skips what is no SSID")
  func form() throws {
    let trigger = try #require(automation["triggers"]?.items.first)
    #expect(trigger["trigger"]?.scalar == "state")
    #expect(trigger["entity_id"]?.scalar?.hasPrefix("sensor.") == true)
    #expect(trigger["to"]?.scalar == "null" && trigger["for"]?.scalar == "00:01:00")
    let homecoming = automation["triggers"]?.items.last
    #expect(homecoming?["to"]?.scalar == "home" && homecoming?["for"]?.scalar == "00:01:00")
    let sensor = try #require(trigger["entity_id"]?.scalar)
    #expect(automation["variables"]?["ssid"]?.scalar == "{{ states('\(sensor)') }}")
    let conditions = try conditions()
    #expect(conditions.first?["state"]?.scalar == "home")
    #expect(
      conditions.last?["value_template"]?.scalar == "{{ ssid not in no_ssid }}")
    let skipped = automation["variables"]?["no_ssid"]?.items.compactMap(\.scalar) ?? []
    for state in ["<not connected>", "Not Connected", "unknown", "unavailable", ""] {
      #expect(skipped.contains(state), "\(state)")
    }
  }

  @Test("What it publishes is an ssid event that the daemon acts upon")
  func event() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let agent = try #require(automation["variables"]?["router"]?.scalar)
    let router = BorderRouter(agent)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    let action = try #require(automation["actions"]?.items.first)
    #expect(action["action"]?.scalar == "mqtt.publish")
    let data = try #require(action["data"])
    #expect(data["qos"]?.scalar == "1" && data["retain"]?.scalar == "false")
    let payload = try #require(data["payload"]?.scalar)
    for ssid in ["home-wifi", "home \"wifi\" 6"] {
      try await publisher.publish([
        Publication(
          topic: try #require(data["topic"]?.scalar),
          payload: try render(payload, ["router": agent, "ssid": ssid]))
      ])
      try await audience.until(ssid) { $0.state(router.topic)?["ssid"]?.text == ssid }
    }
    #expect(audience.look { $0.events("ssid_changed").count == 1 })
    #expect(try await daemon.stop() == .exit(0))
  }
}

extension YAMLNode {
  fileprivate var scalar: String? {
    if case .scalar(let scalar) = content { scalar.text } else { nil }
  }

  fileprivate var items: [YAMLNode] {
    if case .sequence(let nodes) = content { nodes } else { [] }
  }

  fileprivate subscript(_ name: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key.scalar == name }?.value
  }
}
