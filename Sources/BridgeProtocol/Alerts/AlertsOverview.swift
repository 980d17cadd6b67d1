// SPDX-License-Identifier: Apache-2.0

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
