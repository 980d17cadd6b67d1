// SPDX-License-Identifier: Apache-2.0

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
