// SPDX-License-Identifier: Apache-2.0

/// `bridge/event` and `router/<id>/event`: what happened, without any secret.
package struct OutboundEvent: Encodable, Sendable {
  package var v = 1
  package var eventType: String
  package var time: WireTime
  package var borderAgentID: String?
  package var extendedPANID: String?
  package var user: String?

  package init(eventType: String, time: WireTime) {
    self.eventType = eventType
    self.time = time
  }

  enum CodingKeys: String, CodingKey {
    case v
    case eventType = "event_type"
    case time
    case borderAgentID = "border_agent_id"
    case extendedPANID = "ext_pan_id"
    case user
  }

  /// As it is published.
  ///
  /// - Parameter detail: an `EventDetail` as JSON, whose members follow those of the event.
  package func json(with detail: [UInt8]? = nil) -> [UInt8] {
    var json = WireJSON().encode(self)
    guard let detail, detail.count > 2 else { return json }
    json[json.count - 1] = UInt8(ascii: ",")
    json += detail.dropFirst()
    return json
  }
}

/// The `event_type` of what is published on `bridge/event` and `router/<id>/event`.
///
/// One incoming message can have several outcomes, so they are a set; the raw values are stored.
package struct OutboundEventTypes: OptionSet, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// No type. Not that of `OptionSet`, nor `[]`, which run unspecialized code for every message.
  package init() {
    rawValue = 0
  }

  package static let routerAnnounced = Self(rawValue: 1 << 0)
  package static let routerLeft = Self(rawValue: 1 << 1)
  package static let datasetStored = Self(rawValue: 1 << 2)
  package static let datasetUpdated = Self(rawValue: 1 << 3)
  package static let datasetIgnored = Self(rawValue: 1 << 4)
  package static let ssidChanged = Self(rawValue: 1 << 5)
  package static let preferredChanged = Self(rawValue: 1 << 6)
  package static let messageRejected = Self(rawValue: 1 << 7)
  package static let alertRaised = Self(rawValue: 1 << 8)
  package static let alertUpdated = Self(rawValue: 1 << 9)
  package static let alertResolved = Self(rawValue: 1 << 10)
  package static let consentRequested = Self(rawValue: 1 << 11)
  package static let consentApproved = Self(rawValue: 1 << 12)
  package static let consentDenied = Self(rawValue: 1 << 13)
  package static let consentExpired = Self(rawValue: 1 << 14)
  package static let datasetSent = Self(rawValue: 1 << 15)
  package static let routerDiscovered = Self(rawValue: 1 << 16)
  /// A router that was offline is back.
  package static let routerOnline = Self(rawValue: 1 << 17)

  /// In the order in which they are published.
  package static let names: [(type: Self, name: String)] = [
    (.routerDiscovered, "router_discovered"), (.routerAnnounced, "router_announced"),
    (.routerOnline, "router_online"), (.datasetStored, "dataset_stored"),
    (.datasetUpdated, "dataset_updated"), (.datasetIgnored, "dataset_ignored"),
    (.preferredChanged, "preferred_changed"), (.ssidChanged, "ssid_changed"),
    (.routerLeft, "router_left"), (.messageRejected, "message_rejected"),
    (.consentRequested, "consent_requested"), (.consentApproved, "consent_approved"),
    (.consentDenied, "consent_denied"), (.consentExpired, "consent_expired"),
    (.datasetSent, "dataset_sent"),
    (.alertRaised, "alert_raised"), (.alertUpdated, "alert_updated"),
    (.alertResolved, "alert_resolved"),
  ]

  package static let alert: Self = [.alertRaised, .alertUpdated, .alertResolved]
  package static let consent: Self = [
    .consentRequested, .consentApproved, .consentDenied, .consentExpired,
  ]
}

/// What an event says beyond its subject. Stored with the event, so it holds no secret.
package struct EventDetail: Codable, Hashable, Sendable {
  package var networkName: String?
  /// Names of the essential parameters that changed or differ.
  package var differs: [String]?
  /// Why a dataset was ignored: `older` or `conflict`.
  package var reason: String?
  package var previousExtendedPANID: String?
  package var ssid: String?
  package var previousSSID: String?
  /// `match`, `mismatch` or `none`: the check that an SSID change asks for.
  package var preferred: String?
  package var topic: String?
  package var code: String?
  package var field: String?
  package var tlv: String?
  package var offset: Int?
  package var message: String?
  /// Of a consent: its id.
  package var consent: String?
  package var requester: String?
  /// Of the key that what is asked for is sealed to.
  package var fingerprint: String?
  /// What was asked for: `preferred/get`.
  package var command: String?
  /// RFC 3339.
  package var expiresAt: String?
  /// `once` or `always`.
  package var scope: String?
  package var decidedBy: String?

  package init() {}

  package var isEmpty: Bool { self == EventDetail() }

  enum CodingKeys: String, CodingKey {
    case networkName = "network_name"
    case differs, reason
    case previousExtendedPANID = "previous_ext_pan_id"
    case ssid
    case previousSSID = "previous_ssid"
    case preferred, topic, code, field, tlv, offset, message
    case consent = "id"
    case requester, fingerprint, command
    case expiresAt = "expires_at"
    case scope
    case decidedBy = "decided_by"
  }
}
