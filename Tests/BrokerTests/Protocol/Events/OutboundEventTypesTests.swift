// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("Types of outbound events")
struct OutboundEventTypesTests {
  static let pinned: [(OutboundEventTypes, Int64, String)] = [
    (.routerAnnounced, 1, "router_announced"),
    (.routerLeft, 2, "router_left"),
    (.datasetStored, 4, "dataset_stored"),
    (.datasetUpdated, 8, "dataset_updated"),
    (.datasetIgnored, 16, "dataset_ignored"),
    (.ssidChanged, 32, "ssid_changed"),
    (.preferredChanged, 64, "preferred_changed"),
    (.messageRejected, 128, "message_rejected"),
    (.alertRaised, 256, "alert_raised"),
    (.alertUpdated, 512, "alert_updated"),
    (.alertResolved, 1024, "alert_resolved"),
    (.consentRequested, 2048, "consent_requested"),
    (.consentApproved, 4096, "consent_approved"),
    (.consentDenied, 8192, "consent_denied"),
    (.consentExpired, 16384, "consent_expired"),
    (.datasetSent, 32768, "dataset_sent"),
    (.routerDiscovered, 65536, "router_discovered"),
    (.routerOnline, 131_072, "router_online"),
  ]

  @Test("Stored values and published names stay as they are", arguments: pinned)
  func stable(type: OutboundEventTypes, rawValue: Int64, name: String) {
    #expect(type.rawValue == rawValue)
    #expect(OutboundEventTypes.names.first { $0.type == type }?.name == name)
  }

  @Test("Every type has one name and is pinned here")
  func complete() {
    #expect(OutboundEventTypes.names.count == Self.pinned.count)
    #expect(Set(OutboundEventTypes.names.map(\.name)).count == Self.pinned.count)
    let all = OutboundEventTypes.names.reduce(into: OutboundEventTypes()) { $0.insert($1.type) }
    #expect(all.rawValue == 262_143)
  }

  @Test("An announcement comes before what it brings about, and an alert comes last")
  func order() {
    let names = OutboundEventTypes.names.map(\.name)
    #expect(names.prefix(2) == ["router_discovered", "router_announced"])
    #expect(names.suffix(3) == ["alert_raised", "alert_updated", "alert_resolved"])
    #expect(OutboundEventTypes.alert.rawValue == 256 + 512 + 1024)
    #expect(OutboundEventTypes.consent.rawValue == 2048 + 4096 + 8192 + 16384)
  }
}
