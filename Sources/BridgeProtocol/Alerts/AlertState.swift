// SPDX-License-Identifier: Apache-2.0

/// `alert/<fingerprint>`, retained, and the body of alert events.
package struct AlertState: Codable, Sendable {
  package enum Status: String, Codable, Sendable {
    case firing, resolved
  }

  /// Seconds for which a resolved alert stays on the broker.
  package static let resolvedRetention = 86_400

  package var v = 1
  package var fingerprint: String
  package var name: AlertName
  package var status: Status
  package var home: String
  package var facts: AlertFacts
  package var startsAt: WireTime
  package var updatedAt: WireTime
  package var endsAt: WireTime?
  /// Counts what was said about this alert.
  package var sequence: Int64
  /// Set in events only.
  package var eventType: String?
  /// Set in the event of an update that has changed it.
  package var previousSeverity: AlertName.Severity?

  package init(
    fingerprint: String, name: AlertName, status: Status, home: String, facts: AlertFacts,
    startsAt: WireTime, updatedAt: WireTime, endsAt: WireTime?, sequence: Int64
  ) {
    self.fingerprint = fingerprint
    self.name = name
    self.status = status
    self.home = home
    self.facts = facts
    self.startsAt = startsAt
    self.updatedAt = updatedAt
    self.endsAt = endsAt
    self.sequence = sequence
  }

  package var severity: AlertName.Severity { name.severity(facts.reason) }

  enum CodingKeys: String, CodingKey {
    case v, fingerprint, alertname, status, severity, home
    case startsAt = "starts_at"
    case updatedAt = "updated_at"
    case endsAt = "ends_at"
    case sequence = "seq"
    case eventType = "event_type"
    case previousSeverity = "previous_severity"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    v = try container.decode(Int.self, forKey: .v)
    fingerprint = try container.decode(String.self, forKey: .fingerprint)
    name = try container.decode(AlertName.self, forKey: .alertname)
    status = try container.decode(Status.self, forKey: .status)
    home = try container.decode(String.self, forKey: .home)
    startsAt = try container.decode(WireTime.self, forKey: .startsAt)
    updatedAt = try container.decode(WireTime.self, forKey: .updatedAt)
    endsAt = try container.decodeIfPresent(WireTime.self, forKey: .endsAt)
    sequence = try container.decode(Int64.self, forKey: .sequence)
    eventType = try container.decodeIfPresent(String.self, forKey: .eventType)
    previousSeverity = try container.decodeIfPresent(
      AlertName.Severity.self, forKey: .previousSeverity)
    facts = try AlertFacts(from: decoder)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(v, forKey: .v)
    try container.encode(fingerprint, forKey: .fingerprint)
    try container.encode(name, forKey: .alertname)
    try container.encode(status, forKey: .status)
    try container.encode(severity, forKey: .severity)
    try container.encode(home, forKey: .home)
    try container.encode(startsAt, forKey: .startsAt)
    try container.encode(updatedAt, forKey: .updatedAt)
    try container.encode(endsAt, forKey: .endsAt)
    try container.encode(sequence, forKey: .sequence)
    try container.encodeIfPresent(eventType, forKey: .eventType)
    try container.encodeIfPresent(previousSeverity, forKey: .previousSeverity)
    try facts.encode(to: encoder)
  }
}

/// `bridge/alerts`, retained: counts, and the newest of the active ones.
package struct AlertsOverview: Encodable, Sendable {
  /// Alerts that are listed at the most.
  package static let listed = 20

  package var v = 1
  package var active: Int
  package var critical: Int
  package var warning: Int
  package var info: Int
  package var alerts: [AlertState]

  package init(active: Int, critical: Int, warning: Int, info: Int, alerts: [AlertState]) {
    self.active = active
    self.critical = critical
    self.warning = warning
    self.info = info
    self.alerts = alerts
  }
}
