// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Home
import Testing

/// What is published, by its documented keys. An allow-list: a new key must be added here too.
@Suite("Published payloads")
struct PublishedPayloadTests {
  private func object(_ value: some Encodable) throws -> [String: Any] {
    let data = Data(WireJSON().encode(value))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private let time = WireTime(milliseconds: 1_795_235_760_000)

  @Test("bridge/state")
  func bridgeState() throws {
    #expect(try object(BridgeState.online) as? [String: String] == ["state": "online"])
    #expect(try object(BridgeState.offline) as? [String: String] == ["state": "offline"])
    #expect(
      try object(BridgeState.stopped) as? [String: String]
        == ["state": "offline", "reason": "stopped"])
  }

  @Test("bridge/health is flat, and says why intake stands still")
  func bridgeHealth() throws {
    let health = BridgeHealth(
      intake: "backing_off", reason: "the disk is full", uptimeSeconds: 1, routers: 2, networks: 3,
      alertsActive: 4, messagesReceived: 5, messagesRejected: 6, retainedIgnored: 7,
      duplicatesIgnored: 8, requestsAnswered: 11, requestsRefused: 12, answersDropped: 13,
      eventsWaiting: 9, publicationsRefused: 0, intakeReconnects: 10)
    let object = try object(health)
    #expect(
      object.mapValues { "\($0)" } == [
        "v": "1", "uptime_seconds": "1", "routers": "2", "networks": "3", "alerts_active": "4",
        "messages_received": "5", "messages_rejected": "6", "retained_ignored": "7",
        "duplicates_ignored": "8", "events_waiting": "9", "publications_refused": "0",
        "intake_reconnects": "10", "requests_answered": "11", "requests_refused": "12",
        "answers_dropped": "13", "intake": "backing_off", "reason": "the disk is full",
      ])
    #expect(BridgeHealth.intervalSeconds == 60)
    #expect(BridgeHealth.expirySeconds == 180)
  }

  @Test("Names for what is held of a router")
  func credentialStates() {
    #expect(
      CredentialState.allCases.map(\.word.description) == [
        "stored", "missing", "stale", "conflict", "shared", "partial",
      ])
  }

  @Test("alert/<fingerprint>: all the words in one flat object, `ends_at` null while it fires")
  func alertState() throws {
    var alert = AlertState(
      fingerprint: "6f1c2a90b7d4e311", name: .preferredNetworkMismatch, status: .firing,
      severity: .warning, home: "home", facts: Self.facts, startsAt: time, updatedAt: time,
      endsAt: nil, sequence: 1)
    let firing = try object(alert)
    #expect(
      Set(firing.keys) == [
        "v", "fingerprint", "alertname", "status", "severity", "home", "starts_at", "updated_at",
        "ends_at", "seq", "router", "router_name", "network_name", "ext_pan_id",
        "preferred_network_name", "preferred_ext_pan_id", "user", "differs", "trigger", "summary",
        "remedy",
      ])
    #expect(firing["ends_at"] is NSNull)
    #expect(firing["differs"] as? [String] == ["network_key", "ext_pan_id"])
    alert.status = .resolved
    alert.endsAt = time
    alert.eventType = "alert_resolved"
    let resolved = try object(alert)
    for (object, field, text) in [
      (firing, "alertname", "PreferredNetworkMismatch"), (firing, "severity", "warning"),
      (firing, "status", "firing"), (resolved, "status", "resolved"),
      (resolved, "ends_at", "2026-11-21T04:36:00Z"), (resolved, "event_type", "alert_resolved"),
    ] {
      #expect(object[field] as? String == text)
    }
    #expect(AlertState.resolvedRetention == 86_400)
  }

  @Test("What an alert says is read back")
  func facts() throws {
    let facts = try JSONDecoder().decode(
      AlertWords.self, from: JSONEncoder().encode(Self.facts))
    #expect(facts == Self.facts)
  }

  private static let facts: AlertWords = {
    var facts = AlertWords(summary: "words", remedy: "do this")
    facts.router = "a1b2c3d4e5f60718"
    facts.routerName = "Living room"
    facts.networkName = "guest-thread"
    facts.extendedPANID = "3333333344444444"
    facts.preferredNetworkName = "home"
    facts.preferredExtendedPANID = "1111111122222222"
    facts.user = "anna"
    facts.differs = ["network_key", "ext_pan_id"]
    facts.trigger = "ssid_changed"
    return facts
  }()
}
