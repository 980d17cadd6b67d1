// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// A router asks for the preferred credentials, and somebody presses a button in Home Assistant, on a real Mosquitto.
@Suite("Consent through Home Assistant", .inTurns, .timeLimit(.minutes(30)))
struct HomeAssistantConsentTests {
  private static let start = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_c-"
  private static let answers = "threadkeeper/out/homeassistant/response/consent/"
  private let place: AdoptingHome

  init() throws {
    place = try AdoptingHome(more: "home_assistant:\n  login: homeassistant\n")
  }

  private func button(_ key: String, _ heard: Audience.Heard) -> JSON? {
    let topics = Set(heard.messages.map(\.topic).filter { $0.hasPrefix(Self.start) })
    return topics.lazy.compactMap { heard.state($0)?["components"]?["consent_\(key)"] }.first
  }

  /// The button as the broker keeps it, once it can be pressed.
  private func shown(_ key: String, _ scene: AdoptingHome.Scene) async throws -> JSON {
    try await scene.audience.until("the button") {
      button(key, $0) != nil
        && $0.state("threadkeeper/bridge/consent")?["home_assistant"]?.list.first?["id"] != nil
    }
    let late = try await Audience.start(place.broker)
    try await late.until("the retained button") { button(key, $0) != nil }
    let id = try #require(
      late.state("threadkeeper/bridge/consent")?["home_assistant"]?.list.first?["id"]?.text)
    let found = try #require(late.look { button(key, $0) })
    #expect(found["payload_press"]?.text?.contains("\"id\":\"\(id)\"") == true)
    try await late.stop()
    return found
  }

  private func areGone(_ scene: AdoptingHome.Scene) async throws {
    try await scene.audience.until("no button") { heard in
      ["approve", "deny"].allSatisfy { button($0, heard) == nil }
        && heard.messages.contains { $0.topic.hasPrefix(Self.start) && $0.payload.isEmpty }
        && heard.state("threadkeeper/bridge/consent")?["home_assistant"] == nil
    }
  }

  /// As Home Assistant does it: the topic and the payload of the button, and no property of MQTT 5.
  private func press(_ button: JSON, _ version: MosquittoConfiguration.ProtocolVersion) async throws
  {
    var configuration = place.broker.configuration(clientID: "home-assistant")
    configuration.protocolVersion = version
    let assistant = TestPublisher(configuration)
    let topic = try #require(button["command_topic"]?.text)
    let payload = try #require(button["payload_press"]?.text)
    #expect(try await assistant.publish(topic, payload) == .delivered)
    try await assistant.stop()
  }

  @Test(
    "Approved by the button, after a restart too: the router is sent its dataset under seal",
    arguments: [MosquittoConfiguration.ProtocolVersion.v311, .v5])
  func approved(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let (scene, first) = try await place.start()
    let before = try await shown("approve", scene)
    #expect(first.log.contains("Home Assistant is believed in plaintext"))
    #expect(try await first.stop() == .exit(0))
    let second = try await place.installation.start()
    try await scene.audience.until("the button with a new token") {
      self.button("approve", $0)?["payload_press"] != before["payload_press"]
    }
    let button = try await shown("approve", scene)
    try await press(button, version)
    try await scene.audience.until("the message") { !place.messages($0).isEmpty }
    #expect(try place.opened(scene).first?["dataset"]?.text == (try place.home.hex()))
    try await scene.audience.until("the answer") {
      $0.messages.last { $0.topic == Self.answers + "approve" }?.payload.isEmpty == false
        && !$0.events("consent_approved").isEmpty
    }
    try await areGone(scene)
    let decided = scene.audience.look { $0.events("consent_approved").first }
    #expect(decided?["decided_by"] == "mqtt user homeassistant")
    let history = try await place.installation.command("consent", "list", "--history").output
    #expect(history.contains("mqtt user homeassistant"))

    // Pressed once more, a moment too late.
    try await press(button, version)
    try await scene.audience.until("a stale id") { heard in
      heard.messages.contains {
        $0.topic == Self.answers + "approve"
          && String(decoding: $0.payload, as: UTF8.self).contains("stale_id")
      }
    }
    var needles = Needles()
    needles.add("the network key", place.home.networkKey)
    let devices = scene.audience.look { heard in
      heard.messages.filter { $0.topic.hasPrefix(Self.start) }
        .map { String(decoding: $0.payload, as: UTF8.self) }.joined()
    }
    #expect(needles.found(in: devices).isEmpty)
    #expect(try await second.stop() == .exit(0))
  }

  @Test(
    "Denied by mistake: \"Ask again\" on the router's device brings the question back")
  func askedAgain() async throws {
    let (scene, daemon) = try await place.start()
    try await press(try await shown("deny", scene), .v5)
    _ = try await place.failed("denied", scene)
    try await areGone(scene)
    let device =
      "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_\(scene.router.agent)/config"
    let again = try #require(scene.audience.state(device)?["components"]?["ask_again"])
    #expect(again["name"] == "Ask again")
    let state = try #require(again["availability"]?.list.last)
    #expect(state["topic"]?.text == scene.router.state)
    #expect(state["value_template"]?.text?.contains("adoption == 'failed'") == true)
    try await press(again, .v311)
    try await press(try await shown("approve", scene), .v5)
    try await scene.audience.until("the message") { !place.messages($0).isEmpty }
    #expect(try place.opened(scene).first?["dataset"]?.text == (try place.home.hex()))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The blueprint publishes what the buttons do, with the id of its own notification")
  func blueprint() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/home-assistant/threadkeeper-consent-blueprint.yaml")
    let lines = try String(contentsOf: file.standardized, encoding: .utf8)
      .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let base = "{{ base }}/in/{{ login }}/request/consent"
    for (verb, topic, payload) in [
      ("APPROVE", "approve", #"'{"id":"{{ request }}","scope":"once","token":"{{ token }}"}'"#),
      ("DENY", "deny", #"'{"id":"{{ request }}","token":"{{ token }}"}'"#),
    ] {
      let action = "THREADKEEPER_\(verb)"
      let offered = "\(action) {{ repeat.item.id }} {{ repeat.item.token }}"
      #expect(lines.contains("- action: \"\(offered)\""))
      let start = try #require(
        lines.firstIndex {
          $0.contains("action is match('\(action) c-[0-9a-f]{16} [0-9a-f]{32}$')")
        })
      let step = lines[start...].prefix(8)
      #expect(step.contains("topic: \"\(base)/\(topic)\""))
      #expect(step.contains("payload: \(payload)"))
    }
    #expect(lines.contains("topic: \"{{ base }}/bridge/consent\""))
    #expect(lines.contains("for_each: \"{{ trigger.payload_json.home_assistant }}\""))
    #expect(lines.contains("tag: \"{{ tag }}{{ repeat.item.id }}\""))
    #expect(lines.contains("tag: \"{{ tag }}{{ trigger.payload_json.id }}\""))
    #expect(lines.contains("alert_once: true"))
    #expect(lines.contains("event_type: mobile_app_notification_action"))
  }
}
