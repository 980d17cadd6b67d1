// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The example automation, run on what a real daemon publishes.
@Suite("The example automation for Home Assistant", .inTurns, .timeLimit(.minutes(30)))
struct HomeAssistantTests {
  private func automation() throws -> NotifyingAutomation {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/home-assistant/threadkeeper-alerts.yaml")
    return try NotifyingAutomation(
      String(contentsOf: file.standardized, encoding: .utf8))
  }

  /// What a person sees in a Home Assistant that has received this.
  private func notifications(
    _ audience: Audience
  ) throws -> [String: NotifyingAutomation.Notification] {
    var automation = try automation()
    for message in audience.look({ $0.messages }) {
      try automation.receive(
        message.topic, String(decoding: message.payload, as: UTF8.self))
    }
    return automation.notifications
  }

  @Test("An alert that rose while Home Assistant was down is shown, and goes when it is resolved")
  func missedAlert() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let stray = BorderRouter(number: 2)
    try await publisher.publish([
      BorderRouter(number: 1).announces(try home.hex()), stray.announces(try guests.hex()),
    ])
    let name: JSON = "PreferredNetworkMismatch"
    try await eventually("the alert") {
      try await installation.json("alerts").list.contains { $0["alertname"] == name }
    }

    // Only now does Home Assistant start.
    let topic = try automation().topic
    let assistant = try await Audience.start(broker, topic)
    let alerts = try await installation.json("alerts").list
    let mismatch = try #require(alerts.first { $0["alertname"] == name })
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
    try await publisher.publish([stray.changes(to: try home.hex())])
    try await assistant.until("the end of the alert") {
      $0.state("threadkeeper/alert/\(fingerprint)")?["status"] == "resolved"
    }
    #expect(try notifications(assistant)["threadkeeper_\(fingerprint)"] == nil)
    let restarted = try await Audience.start(broker, topic)
    try await restarted.until("the retained alerts") { $0.latest.count >= alerts.count }
    let remaining = try notifications(restarted)
    #expect(remaining["threadkeeper_\(fingerprint)"] == nil)
    #expect(remaining.count == (try await installation.json("alerts").list.count))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("An alert that threadkeeper has forgotten, whose topic is emptied, is no notification")
  func emptiedTopic() throws {
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

  @Test("The name that a border router gives itself is no link in a notification")
  func hostileName() throws {
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
    "The blueprint shows the notification of the example, and acts on alerts that are raised now")
  func blueprint() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/home-assistant").standardized
    func lines(_ name: String) throws -> [String] {
      try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
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
    let actions = try #require(blueprint.firstIndex(of: "sequence: !input actions"))
    #expect(blueprint[actions - 1].contains("is_new"))
    let isNew = try #require(blueprint.firstIndex(of: "is_new: >-"))
    let condition = blueprint[(isNew + 1)...].prefix(4).joined(separator: " ")
    #expect(condition.contains("wanted and (trigger.payload_json.event_type == 'alert_raised'"))
    #expect(condition.contains("trigger.payload_json.get('previous_severity') == 'info'"))
    #expect(blueprint.count { $0.contains("!input actions") } == 1)
  }
}
