// SPDX-License-Identifier: Apache-2.0

import Home
import SodiumCrypto
import ThreadDataset

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
  package var severity: AlertSeverity
  package var home: String
  package var facts: AlertWords
  package var startsAt: WireTime
  package var updatedAt: WireTime
  package var endsAt: WireTime?
  /// Counts what was said about this alert.
  package var sequence: Int64
  /// Set in events only.
  package var eventType: String?
  /// Set in the event of an update that has changed it.
  package var previousSeverity: AlertSeverity?

  package init(
    fingerprint: String, name: AlertName, status: Status, severity: AlertSeverity, home: String,
    facts: AlertWords, startsAt: WireTime, updatedAt: WireTime, endsAt: WireTime?, sequence: Int64
  ) {
    self.fingerprint = fingerprint
    self.name = name
    self.status = status
    self.severity = severity
    self.home = home
    self.facts = facts
    self.startsAt = startsAt
    self.updatedAt = updatedAt
    self.endsAt = endsAt
    self.sequence = sequence
  }

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
    severity = try container.decode(AlertSeverity.self, forKey: .severity)
    home = try container.decode(String.self, forKey: .home)
    startsAt = try container.decode(WireTime.self, forKey: .startsAt)
    updatedAt = try container.decode(WireTime.self, forKey: .updatedAt)
    endsAt = try container.decodeIfPresent(WireTime.self, forKey: .endsAt)
    sequence = try container.decode(Int64.self, forKey: .sequence)
    eventType = try container.decodeIfPresent(String.self, forKey: .eventType)
    previousSeverity = try container.decodeIfPresent(
      AlertSeverity.self, forKey: .previousSeverity)
    facts = try AlertWords(from: decoder)
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

/// What an alert says, in the words that people and scripts read. Holds names, never secrets.
package struct AlertWords: Codable, Hashable, Sendable {
  package var router: String?
  package var routerName: String?
  package var networkName: String?
  package var extendedPANID: String?
  package var preferredNetworkName: String?
  package var preferredExtendedPANID: String?
  package var user: String?
  /// Names of the parameters that differ.
  package var differs: [String]?
  /// Of an adoption that failed: `denied`, `timeout`, …; of a router that is offline: `stopped`, `frozen`, …; of one
  /// on another network: `never_member`, or absent; of a home without a preferred network: `several_networks`, or absent.
  package var reason: String?
  /// What brought it up: `announce`, `dataset`, `ssid_changed`, `preferred_changed`, `start`, …
  package var trigger: String?
  package var summary: String
  package var remedy: String

  package init(summary: String, remedy: String) {
    self.summary = summary
    self.remedy = remedy
  }

  /// The summary as a headline. The name of a router or a login stays as it is.
  package var headline: String {
    let isName = [routerName, user].contains { $0.map { summary.hasPrefix($0) } ?? false }
    return isName ? summary : summary.capitalizedFirst
  }

  enum CodingKeys: String, CodingKey {
    case router
    case routerName = "router_name"
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case preferredNetworkName = "preferred_network_name"
    case preferredExtendedPANID = "preferred_ext_pan_id"
    case user, differs, reason, trigger, summary, remedy
  }
}

extension String {
  package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// Names one alert for good: the same home, alert and subject have the same fingerprint.
///
/// 8 bytes of BLAKE2b (RFC 7693) over length-prefixed texts, written as 16 lower-case hex digits.
package struct AlertFingerprint: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/alert-fingerprint/1".utf8)

  package init(home: String, name: AlertName, subject: String) {
    var input: [UInt8] = []
    for text in [home, name.word.description, subject] {
      let length = UInt32(truncatingIfNeeded: text.utf8.count)
      for shift in [24, 16, 8, 0] { input.append(UInt8(truncatingIfNeeded: length >> shift)) }
      input.append(contentsOf: text.utf8)
    }
    // The lengths are constants that the function allows.
    let hash = Self.domain.withUnsafeBytes { try? BLAKE2b.hash(input, key: $0, count: 16) }
    bytes = Array((hash ?? []).prefix(8))
  }

  package var description: String { Hexadecimal.encode(bytes) }
}
