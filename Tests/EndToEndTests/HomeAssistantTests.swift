import Broker
import Foundation
import Settings
import Testing

/// The example automation, run on what a real daemon publishes.
@Suite("The example automation for Home Assistant", .inTurns, .timeLimit(.minutes(30))) struct HomeAssistantTests {
  private func automation() throws -> NotifyingAutomation {
    try NotifyingAutomation(ProjectFiles.text(of: "examples/home-assistant/threadkeeper-alerts.yaml"))
  }

  /// What a person sees in a Home Assistant that has received this.
  private func notifications(_ audience: Audience) throws -> [String: NotifyingAutomation.Notification] {
    var automation = try automation()
    for message in audience.look({ $0.messages }) {
      try automation.receive(message.topic, String(decoding: message.payload, as: UTF8.self))
    }
    return automation.notifications
  }

  @Test("An alert that rose while Home Assistant was down is shown, and goes when it is resolved") func missedAlert()
    async throws
  {
    let running = try await RunningHome()
    let installation = running.installation
    let home = try ThreadNetwork("home")
    let stray = BorderRouter(number: 2)
    try await running.publish(
      BorderRouter(number: 1).announces(try home.hex()), stray.announces(try ThreadNetwork("guest-thread").hex()))
    let name = "PreferredNetworkMismatch"
    try await running.until("the alert") { !$0.alerts("alert_raised", name).isEmpty }

    // Only now does Home Assistant start.
    let topic = try automation().topic
    let assistant = try await Audience.start(running.broker, topic)
    let alerts = try await installation.json("alerts").list
    let mismatch = try #require(alerts.first { $0["alertname"]?.text == name })
    let fingerprint = try #require(mismatch["fingerprint"]?.text)
    try await assistant.until("every alert") { $0.latest.count >= alerts.count }
    let shown = try notifications(assistant)
    let fingerprints = alerts.compactMap { $0["fingerprint"]?.text }
    #expect(Set(shown.keys) == Set(fingerprints.map { "threadkeeper_\($0)" }))
    let notification = try #require(shown["threadkeeper_\(fingerprint)"])
    #expect(notification.title == mismatch["summary"]?.text)
    let remedy = try #require(mismatch["remedy"]?.text)
    #expect(notification.message.hasPrefix(remedy))
    #expect(notification.message.contains("PreferredNetworkMismatch (warning), since "))

    // The router comes home, while Home Assistant is there; then Home Assistant starts again.
    try await running.publish(stray.changes(to: try home.hex()))
    try await assistant.until("the end of the alert") {
      $0.state("threadkeeper/alert/\(fingerprint)")?["status"] == "resolved"
    }
    #expect(try notifications(assistant)["threadkeeper_\(fingerprint)"] == nil)
    let restarted = try await Audience.start(running.broker, topic)
    try await restarted.until("the retained alerts") { $0.latest.count >= alerts.count }
    let remaining = try notifications(restarted)
    #expect(remaining["threadkeeper_\(fingerprint)"] == nil)
    #expect(remaining.count == (try await installation.json("alerts").list.count))
    try await running.stop()
  }

  @Test("An alert that threadkeeper has forgotten, whose topic is emptied, is no notification") func emptiedTopic()
    throws
  {
    var automation = try automation()
    let alert = """
      {"status":"firing","summary":"s","remedy":"r","alertname":"StoreReadOnly","severity":"critical",\
      "starts_at":"2026-11-21T04:36:00Z"}
      """
    try automation.receive("threadkeeper/alert/94d31dc734adfc7f", alert)
    #expect(automation.notifications["threadkeeper_94d31dc734adfc7f"]?.title == "s")
    try automation.receive("threadkeeper/alert/94d31dc734adfc7f", "")
    #expect(automation.notifications.isEmpty)
  }

  @Test("The name that a border router gives itself is no link in a notification") func hostileName() throws {
    var automation = try automation()
    let alert = """
      {"status":"firing","summary":"s","remedy":"Ask \\"[you](http://a.example)<b>\\".",\
      "alertname":"PreferredKeyDisputed","severity":"warning","starts_at":"2026-11-21T04:36:00Z"}
      """
    try automation.receive("threadkeeper/alert/94d31dc734adfc7f", alert)
    let message = try #require(automation.notifications.values.first?.message)
    #expect(message.hasPrefix("Ask \"&#91;you](http://a.example)&lt;b>\"."))
  }

  @Test(
    "The blueprint shows the notification of the example, acts on alerts that are raised now, and sees the last will")
  func blueprint() throws {
    func lines(_ name: String) throws -> [String] {
      try ProjectFiles.text(of: "examples/home-assistant/\(name)").components(separatedBy: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    let example = try lines("threadkeeper-alerts.yaml")
    let blueprint = try lines("threadkeeper-alerts-blueprint.yaml")
    func notification(_ lines: [String]) throws -> [String] {
      let start = try #require(lines.firstIndex { $0.hasPrefix("notification_id:") })
      let end = try #require(lines.firstIndex { $0.hasPrefix("Run commands on") })
      return Array(lines[start...end])
    }
    #expect(try notification(blueprint) == notification(example))
    // The retained topics for what is shown, the events for what happens once.
    #expect(blueprint.contains("topic: \"{{ base }}/alert/+\""))
    #expect(blueprint.contains("topic: \"{{ base }}/bridge/event/alert\""))
    #expect(blueprint.contains("topic: \"{{ base }}/bridge/state\""))
    // Each phone that was picked gets one push for a new alert, which leads to the page.
    let phones = try #require(blueprint.firstIndex(of: "- if: \"{{ is_new }}\""))
    let push = blueprint[phones...].prefix(22)
    #expect(push.contains("for_each: \"{{ phones }}\"") && push.contains { $0.contains("'uri': page") })
    let confirm = try #require(blueprint.firstIndex(of: "topic: \"{{ base }}/in/{{ login }}/request/alerts/confirm\""))
    #expect(blueprint[confirm - 4].contains("default('') == arrived") && blueprint[confirm + 1] == "payload: \"{}\"")
    #expect(push.contains("tag: \"threadkeeper_{{ trigger.payload_json.fingerprint }}\""))
    let action = "- action: \"notify.mobile_app_{{ device_attr(repeat.item, 'name') | slugify }}\""
    #expect(push.contains(action) && blueprint.count { $0 == action } == 4)
    let actions = try #require(blueprint.firstIndex(of: "sequence: !input actions"))
    #expect(blueprint[actions - 1].contains("is_new"))
    let isNew = try #require(blueprint.firstIndex(of: "is_new: >-"))
    let condition = blueprint[(isNew + 1)...].prefix(4).joined(separator: " ")
    #expect(condition.contains("wanted and (trigger.payload_json.event_type == 'alert_raised'"))
    #expect(condition.contains("trigger.payload_json.get('previous_severity') == 'info'"))
    #expect(blueprint.count { $0.contains("!input actions") } == 1)
  }
}

/// The example automation that publishes what a phone sees, with a real daemon.
@Suite("The example automation for a phone's SSID", .inTurns, .timeLimit(.minutes(30))) struct PhoneSSIDTests {
  private let automation: YAMLNode

  init() throws {
    let text = try ProjectFiles.text(of: "examples/home-assistant/threadkeeper-phone-ssid.yaml")
    automation = try #require(try YAMLNode.read(text)?.list.first)
  }

  private func conditions() throws -> [YAMLNode] { try #require(automation["conditions"]).list }

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

  @Test("It waits for the state of the phone's sensor, at home, and skips what is no SSID") func form() throws {
    let trigger = try #require(automation["triggers"]?.list.first)
    #expect(trigger["trigger"]?.text == "state")
    #expect(trigger["entity_id"]?.text?.hasPrefix("sensor.") == true)
    #expect(trigger["to"]?.text == "null" && trigger["for"]?.text == "00:01:00")
    let homecoming = automation["triggers"]?.list.last
    #expect(homecoming?["to"]?.text == "home" && homecoming?["for"]?.text == "00:01:00")
    let sensor = try #require(trigger["entity_id"]?.text)
    #expect(automation["variables"]?["ssid"]?.text == "{{ states('\(sensor)') }}")
    let conditions = try conditions()
    #expect(conditions.first?["state"]?.text == "home")
    #expect(conditions.last?["value_template"]?.text == "{{ ssid not in no_ssid }}")
    let skipped = automation["variables"]?["no_ssid"]?.list.compactMap(\.text) ?? []
    for state in ["<not connected>", "Not Connected", "unknown", "unavailable", ""] {
      #expect(skipped.contains(state), "\(state)")
    }
  }

  @Test("What it publishes is an ssid event that the daemon acts upon") func event() async throws {
    let running = try await RunningHome(more: "ssid: {reporters: [homeassistant]}")
    let agent = try #require(automation["variables"]?["router"]?.text)
    let router = BorderRouter(agent)
    try await running.publish(router.announces(try ThreadNetwork("home").hex()))
    let action = try #require(automation["actions"]?.list.first)
    #expect(action["action"]?.text == "mqtt.publish")
    let data = try #require(action["data"])
    #expect(data["qos"]?.text == "1" && data["retain"]?.text == "false")
    let payload = try #require(data["payload"]?.text)
    for ssid in ["home-wifi", "home \"wifi\" 6"] {
      try await running.publish(
        Publication(
          topic: try #require(data["topic"]?.text), payload: try render(payload, ["router": agent, "ssid": ssid])))
      try await running.until(ssid) { $0.state(router.topic)?["ssid"]?.text == ssid }
    }
    // An event comes after the state.
    try await running.until("the change") { !$0.events("ssid_changed").isEmpty }
    try await running.stop()
    #expect(running.audience.look { $0.events("ssid_changed").count == 1 })
  }
}
