// SPDX-License-Identifier: Apache-2.0

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
  /// Of alert events only; they are published in the form of the alert.
  package var alert: PublishedAlert?

  package init() {}

  package var isEmpty: Bool { self == EventDetail() }

  enum CodingKeys: String, CodingKey {
    case networkName = "network_name"
    case differs, reason
    case previousExtendedPANID = "previous_ext_pan_id"
    case ssid
    case previousSSID = "previous_ssid"
    case preferred, topic, code, field, tlv, offset, message, alert
    case consent = "id"
    case requester, fingerprint, command
    case expiresAt = "expires_at"
    case scope
    case decidedBy = "decided_by"
  }
}
