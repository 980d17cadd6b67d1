import Broker
import Foundation
import TestKit
import Testing

/// A router asks for the preferred credentials, and somebody presses a button in Home Assistant, on a real Mosquitto.
@Suite("Consent through Home Assistant", .inTurns, .timeLimit(.minutes(30))) struct HomeAssistantConsentTests {
  private static let settings = "home_assistant:\n  login: homeassistant\n"
  private static let start = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_c-"
  private static let approve = "threadkeeper/out/homeassistant/response/consent/approve"

  private func button(_ key: String, _ heard: Audience.Heard) -> JSON? {
    let topics = Set(heard.messages.map(\.topic).filter { $0.hasPrefix(Self.start) })
    return topics.lazy.compactMap { heard.state($0)?["components"]?["consent_\(key)"] }.first
  }

  /// The button as the broker keeps it, once it can be pressed.
  private func shown(_ key: String, _ place: AdoptingHome) async throws -> JSON {
    try await place.running.until("the button") {
      button(key, $0) != nil && $0.state("threadkeeper/bridge/consent")?["home_assistant"]?.list.first?["id"] != nil
    }
    let late = try await Audience.start(place.running.broker)
    try await late.until("the retained button") { button(key, $0) != nil }
    let id = try #require(late.state("threadkeeper/bridge/consent")?["home_assistant"]?.list.first?["id"]?.text)
    let found = try #require(late.look { button(key, $0) })
    #expect(found["payload_press"]?.text?.contains("\"id\":\"\(id)\"") == true)
    return found
  }

  private func areGone(_ place: AdoptingHome) async throws {
    try await place.running.until("no button") { heard in
      ["approve", "deny"].allSatisfy { button($0, heard) == nil }
        && heard.messages.contains { $0.topic.hasPrefix(Self.start) && $0.payload.isEmpty }
        && heard.state("threadkeeper/bridge/consent")?["home_assistant"] == nil
    }
  }

  /// As Home Assistant does it: the topic and the payload of the button, and no property of MQTT 5.
  private func press(_ button: JSON, _ place: AdoptingHome, by version: MosquittoConfiguration.ProtocolVersion = .v311)
    async throws
  {
    var configuration = place.running.broker.configuration(clientID: "home-assistant")
    configuration.protocolVersion = version
    let assistant = TestPublisher(configuration)
    let topic = try #require(button["command_topic"]?.text)
    let payload = try #require(button["payload_press"]?.text)
    #expect(try await assistant.publish(topic, payload) == .delivered)
    try await assistant.stop()
  }

  @Test("Denied, asked again and approved by buttons, after a restart too: the router is sent its dataset")
  func buttons() async throws {
    let place = try await AdoptingHome(more: Self.settings + "consent: {approvers: [anna], approvers_trust: broker}\n")
    let (running, router) = (place.running, place.router)
    for who in ["Home Assistant", "an approver"] {
      #expect(running.daemon.log.contains("\(who) is believed in plaintext"))
    }
    try await press(try await shown("deny", place), place, by: .v5)
    try await place.failed("denied")
    try await areGone(place)
    let again = try #require(running.state(BorderRouter(router.agent).device)?["components"]?["ask_again"])
    #expect(again["name"] == "Ask again")
    let state = try #require(again["availability"]?.list.last)
    #expect(state["topic"]?.text == router.state)
    #expect(state["value_template"]?.text?.contains("adoption == 'failed'") == true)
    try await press(again, place)

    let before = try await shown("approve", place)
    try await running.restart()
    try await running.until("the button with a new token") { heard in
      button("approve", heard).map { $0["payload_press"] != before["payload_press"] } == true
    }
    let approve = try await shown("approve", place)
    try await press(approve, place)
    try await place.untilSent()
    #expect(try place.opened().first?["dataset"]?.text == (try place.home.hex()))
    try await running.until("the answer") {
      $0.messages.last { $0.topic == Self.approve }?.payload.isEmpty == false && !$0.events("consent_approved").isEmpty
    }
    try await areGone(place)
    let user = "mqtt user homeassistant"
    #expect(running.audience.look { $0.events("consent_approved").first }?["decided_by"]?.text == user)
    #expect(try await place.installation.run("consent", "list", "--history").contains(user))

    // Pressed once more, a moment too late.
    try await press(approve, place)
    try await running.until("a stale id") { heard in
      heard.messages.contains {
        $0.topic == Self.approve && String(decoding: $0.payload, as: UTF8.self).contains("stale_id")
      }
    }
    try await running.stop()
  }

  /// Another login that may write where the daemon announces its devices has a person's press decide about something
  /// else. With MQTT 3.1.1 the daemon is also sent what it has published itself.
  @Test("An altered button is published again, is an alert, and for a minute no button decides") func altered()
    async throws
  {
    let place = try await AdoptingHome(more: Self.settings, mqtt: ["protocol: '3.1.1'"])
    let (running, publisher) = (place.running, place.running.publisher)
    func topic(_ heard: Audience.Heard) -> String? {
      heard.latest.keys.first { $0.hasPrefix(Self.start) && heard.latest[$0] != "" }
    }
    try await running.until("the button") { button("approve", $0) != nil }
    let device = try #require(running.audience.look(topic))
    let own = try #require(running.audience.look { $0.latest[device] })
    let pressed = try #require(running.audience.look { button("approve", $0) })
    /// Texts of the device since a message.
    func texts(_ heard: Audience.Heard, since start: Int) -> [String] {
      heard.messages.dropFirst(start).filter { $0.topic == device }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
    // Its own text that comes back, or that somebody deletes a device, is no alteration; and what waits keeps its
    // buttons. When they are there for the second time, an alert about the first would have come.
    try await publisher.publish("homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config", "", retain: true)
    let start = running.audience.look { $0.messages.count }
    for times in 1...2 {
      try await publisher.publish(device, "", retain: true)
      try await running.until("the button again") { heard in
        let texts = texts(heard, since: start)
        return texts.count { $0 == own } >= times && texts.last == own
      }
    }
    #expect(running.audience.look { $0.alerts("alert_raised", "DiscoveryAltered").isEmpty })

    // The attacker has a request of its own, and gives the button its id.
    let id = String(device.dropFirst(Self.start.count).prefix(16))
    let foreign = own.replacing("c-\(id)", with: "c-\(String(id.reversed()))")
    let before = running.audience.look { $0.messages.count }
    try await publisher.publish(device, foreign, retain: true)
    try await running.until("the alert, and the daemon's text again") { heard in
      let texts = texts(heard, since: before)
      return texts.contains(foreign) && texts.last == own && heard.alerts("alert_raised", "DiscoveryAltered").count == 1
    }
    try await press(pressed, place)
    try await running.until("the refusal") { $0.state(Self.approve)?["error"]?["code"] == "not_authorized" }
    #expect(place.messages.isEmpty)
    _ = try await place.installation.question()
    try await running.stop()
  }

  @Test("The blueprint publishes what the buttons do, with the id of its own notification") func blueprint() throws {
    let lines = try ProjectFiles.text(of: "examples/home-assistant/threadkeeper-consent-blueprint.yaml").components(
      separatedBy: "\n"
    ).map { $0.trimmingCharacters(in: .whitespaces) }
    let base = "{{ base }}/in/{{ login }}/request/consent"
    for (verb, topic, payload) in [
      ("APPROVE", "approve", #"'{"id":"{{ request }}","scope":"once","token":"{{ token }}"}'"#),
      ("DENY", "deny", #"'{"id":"{{ request }}","token":"{{ token }}"}'"#),
    ] {
      let action = "THREADKEEPER_\(verb)"
      let offered = "\(action) {{ repeat.item.id }} {{ repeat.item.token }}"
      #expect(lines.contains("- action: \"\(offered)\""))
      let start = try #require(
        lines.firstIndex { $0.contains("action is match('\(action) c-[0-9a-f]{16} [0-9a-f]{32}$')") })
      let step = lines[start...].prefix(8)
      #expect(step.contains("topic: \"\(base)/\(topic)\""))
      #expect(step.contains("payload: \(payload)"))
    }
    for line in [
      "topic: \"{{ base }}/bridge/consent\"", "for_each: \"{{ trigger.payload_json.home_assistant }}\"",
      "tag: \"{{ tag }}{{ repeat.item.id }}\"", "tag: \"{{ tag }}{{ trigger.payload_json.id }}\"", "alert_once: true",
      "event_type: mobile_app_notification_action",
      "notify: \"notify.mobile_app_{{ device_attr(phone, 'name') | slugify }}\"",
    ] { #expect(lines.contains(line)) }
  }
}
