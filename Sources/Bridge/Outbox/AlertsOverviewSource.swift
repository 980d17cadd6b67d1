// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// Makes `bridge/alerts` from the stored alerts and from the one that cannot be stored.
struct AlertsOverviewSource: Sendable {
  let topics: BaseTopics
  let monitor: BridgeMonitor

  func publications(for home: HomeRecord, _ renderer: PublicationRenderer, _ tx: ReadTransaction)
    throws -> [Publication]
  {
    guard let base = renderer.bases[home.name] else { return [] }
    return [
      Publication(
        topic: OutboundTopic(base: base).alerts,
        payload: WireJSON().encode(try overview(of: home, tx)), retain: true)
    ]
  }

  func overview(of home: HomeRecord, _ tx: ReadTransaction) throws -> AlertsOverview {
    var counts = try AlertLedger.countsBySeverity(home: home.id, tx)
    var alerts = try AlertLedger.firing(home: home.id, limit: AlertsOverview.listed, tx).map {
      $0.state(home: home.name)
    }
    if home.name == topics.homes.first?.name, let problem = storeAlert {
      counts[.critical, default: 0] += 1
      alerts.insert(problem, at: 0)
      alerts = Array(alerts.prefix(AlertsOverview.listed))
    }
    return AlertsOverview(
      active: counts.values.reduce(0, +), critical: counts[.critical] ?? 0,
      warning: counts[.warning] ?? 0, info: counts[.info] ?? 0, alerts: alerts)
  }

  /// A store that cannot be written cannot hold the alert about that.
  var storeAlert: AlertState? {
    guard let home = topics.homes.first?.name, let problem = monitor.snapshot.storeProblem else {
      return nil
    }
    return Self.storeAlert(problem, home: home, endsAt: nil)
  }

  static func storeAlert(
    _ problem: BridgeMonitor.StoreProblem, home: String, endsAt: WireTime?
  ) -> AlertState {
    AlertState(
      fingerprint: AlertFingerprint(home: home, name: .storeReadOnly, subject: "").description,
      name: .storeReadOnly, status: endsAt == nil ? .firing : .resolved, home: home,
      facts: AlertFacts(
        summary: "the store cannot be written, so events wait on the broker",
        remedy: problem.reason),
      startsAt: problem.since, updatedAt: endsAt ?? problem.since, endsAt: endsAt, sequence: 1)
  }
}
