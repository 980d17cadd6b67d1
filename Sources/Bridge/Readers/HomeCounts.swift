import Broker
import Home
import HomeStore
import ThreadDataset
import Wire

/// What is counted of a home, or of several: for `status`, metrics, `bridge/info` and `bridge/health`. The home keeps
/// these numbers, but for its alerts, of which there are few.
package struct HomeCounts: Hashable, Sendable {
  /// What alerts have in common that are shown as one line.
  package struct AlertKind: Hashable, Sendable {
    package let name: AlertName
    package let severity: AlertSeverity
  }

  package var routers = RouterTotals()
  /// That routers are on, or that are preferred.
  package var networks = 0
  /// That are stored, of routers or because a login shares them.
  package var credentials = 0
  /// When credentials that a login shares were read last.
  var credentialsReadAt: WireTime?
  /// Alerts that fire.
  package var alerts: [AlertKind: Int] = [:]

  package var alertsFiring: Int { alerts.values.reduce(0, &+) }

  /// Firing alerts of one name.
  package struct Firing: WirePart, WireMessage, WireReadable, Sendable {
    package var name = AlertName.storeReadOnly
    package var severity = AlertSeverity.critical
    package var count = 0

    package init() {}

    init(_ kind: AlertKind, _ count: Int) { (name, severity, self.count) = (kind.name, kind.severity, count) }

    package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("alertname", &name)
      c.needed("count", &count)
      c.needed("severity", &severity)
    }
  }

  /// The same, the worst first.
  package var firing: [Firing] {
    get {
      func rank(_ kind: AlertKind) -> (UInt8, String) { (kind.severity.rawValue, kind.name.word.description) }
      return alerts.sorted { rank($0.key) < rank($1.key) }.map { Firing($0, $1) }
    }
    set { alerts = Dictionary(newValue.map { (AlertKind(name: $0.name, severity: $0.severity), $0.count) }) { $1 } }
  }

  package init() {}

  package init(_ home: Home) { add(home) }

  package mutating func add(_ home: Home) {
    routers += home.routers.totals
    networks += home.networkCount
    credentials += home.routers.totals.credentials + home.allShared.count { $0.dataset.hasCredentials }
    credentialsReadAt = [credentialsReadAt, home.credentialsReadAt].compactMap(\.self).max()
    for (key, alert) in home.alerts where alert.phase == .firing {
      let kind = AlertKind(name: key.name, severity: key.severity(alert.facts))
      alerts[kind, default: 0] += 1
    }
  }
}

extension HomeSnapshot {
  /// Of all homes together.
  package var counts: HomeCounts { homes.values.reduce(into: HomeCounts()) { $0.add($1) } }
}

/// Whose things are, for `status` and `preferred show`.
extension Home {
  /// Border agent ids that belong to a team, and the login that spoke for each last.
  package var owners: [(agent: BorderAgentID, team: String, user: String?)] {
    routers.compactMap { router in router.owner.map { (router.agent, $0.text, router.user?.text) } }
  }

  /// Logins that spoke for border routers last, also for those that left.
  package var users: Set<ExactName> { Set(routers.compactMap(\.user)) }

  /// Routers that have credentials of a network that is preferred by its Extended PAN ID alone: nobody has vouched for
  /// them.
  package var unconfirmedReporters: [BorderAgentID] {
    guard let preferred = preferred?.dataset, !preferred.hasCredentials else { return [] }
    return routers.filter { $0.dataset?.network == preferred.network }.map(\.agent)
  }
}
