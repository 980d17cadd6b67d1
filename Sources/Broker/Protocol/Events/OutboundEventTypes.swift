// SPDX-License-Identifier: Apache-2.0

/// The `event_type` of what is published on `bridge/event`, on its `alert` and on `router/<id>/event`.
package enum OutboundEventTypes {
  /// All that `router/<id>/event` may carry.
  package static let ofRouters = [
    "router_discovered", "router_announced", "router_online", "dataset_stored", "dataset_updated",
    "dataset_ignored", "preferred_changed", "ssid_changed", "router_left", "consent_requested",
    "consent_approved", "consent_denied", "consent_expired", "dataset_sent",
  ]
  package static let ofAlerts = ["alert_raised", "alert_updated", "alert_resolved"]
}
