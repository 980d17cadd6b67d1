// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// Reads from the registry what `bridge/info`, `bridge/health` and `bridge/alerts` show.
struct BridgeReports: Sendable {
  struct Report {
    var infos: [(BaseTopics.Home, BridgeInfo)] = []
    var health: BridgeHealth?
    var overviews: [(BaseTopics.Home, AlertsOverview)] = []
    /// Of every home, where they can be read.
    var consents: [Publication] = []
  }

  let database: SQLiteDatabase
  let configuration: BridgeConfiguration
  let instanceID: String
  /// The daemon's public keys, once it has any.
  let identity: @Sendable () -> PublicIdentity?
  let overview: AlertsOverviewSource
  let consents: ConsentOverviewSource
  let monitor: BridgeMonitor
  let startedAt: WireTime

  /// - Parameter isFirst: of this connection: then the broker may hold what an earlier one published.
  func report(isHealthDue: Bool, isFirst: Bool, now: WireTime) throws -> Report {
    try database.read { tx in
      var report = Report()
      let records = try HomeLedger.all(tx)
      var routers = 0
      var networks = 0
      var active = 0
      for home in configuration.topics.homes {
        guard let record = records.first(where: { $0.name == home.name }) else { continue }
        let info = try self.info(of: record, tx)
        let overview = try self.overview.overview(of: record, tx)
        report.infos.append((home, info))
        report.overviews.append((home, overview))
        routers += info.routers
        networks += info.networks
        active += overview.active
      }
      if isFirst { report.consents = consents.publications(tx) }
      if isHealthDue {
        report.health = health(
          routers: routers, networks: networks, active: active,
          waiting: try EventLedger.waiting(tx), now: now)
      }
      return report
    }
  }

  private func info(of home: HomeRecord, _ tx: ReadTransaction) throws -> BridgeInfo {
    let identity = identity()
    return BridgeInfo(
      version: configuration.version, instanceID: instanceID, home: home.name,
      preferredNetwork: home.preferred.map {
        .init(networkName: home.preferredName ?? "", extendedPANID: $0.description)
      },
      routers: home.routers,
      networks: try NetworkLedger.count(home: home.id, tx),
      alertsHold: configuration.alertsHold,
      onMismatch: configuration.adoptTimeout == nil ? "alert" : "adopt",
      offlineAfter: configuration.offlineAfter, enrolmentLine: identity?.line,
      fingerprint: identity?.fingerprint)
  }

  func health(routers: Int, networks: Int, active: Int, waiting: Int64, now: WireTime)
    -> BridgeHealth
  {
    let snapshot = monitor.snapshot
    let intake =
      switch snapshot.intake {
      case .running: "running"
      case .connecting: "connecting"
      case .backingOff: "backing_off"
      }
    return BridgeHealth(
      intake: intake, reason: snapshot.reason,
      uptimeSeconds: (now.milliseconds - startedAt.milliseconds) / 1000, routers: routers,
      networks: networks, alertsActive: active, messagesReceived: snapshot.received,
      messagesRejected: snapshot.rejected, retainedIgnored: snapshot.retainedIgnored,
      duplicatesIgnored: snapshot.duplicatesIgnored,
      requestsAnswered: snapshot.requestsAnswered, requestsRefused: snapshot.requestsRefused,
      answersDropped: snapshot.answersDropped, eventsWaiting: waiting,
      publicationsRefused: snapshot.publicationsRefused,
      intakeReconnects: snapshot.intakeReconnects)
  }
}
