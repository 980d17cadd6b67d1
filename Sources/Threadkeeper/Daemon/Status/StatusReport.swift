import Bridge
import Broker
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Settings
import ThreadDataset
import Wire

/// What `status` answers.
package struct StatusReport: Codable {
  package struct Store: Codable {
    package let path: String
    package let id: String
    package let condition: String
  }

  package struct Preferred: Codable {
    package let home: String
    package let networkName: String
    package let extPanId: String
  }

  /// Firing alerts of one name.
  package struct Alert: Codable {
    package let severity: String
    package let alertname: String
    package let count: Int

    package static func list(_ alerts: [HomeCounts.AlertKind: Int]) -> [Alert] {
      func rank(_ kind: HomeCounts.AlertKind) -> (UInt8, String) {
        (kind.severity.rawValue, kind.name.word.description)
      }
      return alerts.sorted { rank($0.key) < rank($1.key) }.map {
        Alert(severity: $0.severity.word.description, alertname: $0.name.word.description, count: $1)
      }
    }
  }

  package let version: String
  package let pid: Int32
  package let routers: Int
  /// Of the routers.
  package let routersOffline: Int
  /// Of those that are online.
  package let routersDetached: Int
  /// On another network than the one they are configured for.
  package let routersElsewhere: Int
  package let networks: Int
  let alerts: Int
  /// The worst first.
  package let alertsFiring: [Alert]
  package let credentials: Int
  package let preferredNetworks: [Preferred]
  /// That the daemon serves.
  package let homes: Int
  package let broker: DaemonState.Broker
  /// Absent while the broker takes everything that the daemon says.
  package let refused: DaemonState.Refused?
  package let discovery: DaemonState.Discovery
  package let page: DaemonState.Page
  /// Who the daemon is at the broker, and where the password comes from.
  package let login: DaemonState.Login
  package let intake: DaemonState.Intake
  package let store: Store
  package let teams: TeamCheck

  init(_ snapshot: HomeSnapshot, _ settings: Settings, _ store: any DaemonStore, runtime: DaemonState) {
    version = threadkeeperVersion
    pid = runtime.pid
    (broker, login, intake) = (runtime.broker, runtime.login, runtime.intake)
    (refused, discovery, page) = (runtime.refused, runtime.discovery, runtime.page)
    teams = TeamCheck(settings, snapshot)
    let counts = snapshot.counts
    routers = counts.routers.listed
    routersOffline = counts.routers.offline
    routersDetached = counts.routers.detached
    routersElsewhere = counts.routers.elsewhere
    networks = counts.networks
    credentials = counts.credentials
    alerts = counts.alertsFiring
    alertsFiring = Alert.list(counts.alerts)
    let served = snapshot.inOrder(of: settings)
    homes = served.count
    preferredNetworks = served.compactMap { name, home in
      home.preferred.map {
        Preferred(home: name, networkName: $0.dataset.name, extPanId: $0.dataset.network.description)
      }
    }
    let damaged = served.filter(\.home.hasDamage).map { "`\($0.name)`" }
    self.store = Store(
      path: store.place, id: store.id.description,
      condition: Self.condition(store.condition, runtime.storeProblem, damaged))
  }

  /// What the condition of a store that cannot be written begins with.
  package static let notWritable = "not writable"

  private static func condition(_ condition: StoreCondition, _ problem: String?, _ damaged: [String]) -> String {
    guard condition == .healthy else { return condition.words }
    if let problem { return "\(Self.notWritable): \(problem)" }
    return damaged.isEmpty ? condition.words : "damaged: records of home \(damaged.listed) cannot be read"
  }
}

extension HomeSnapshot {
  /// In the order of the settings.
  func inOrder(of settings: Settings) -> [(name: String, home: Home)] {
    settings.homes.compactMap { home in homes[home.name].map { (home.name, $0) } }
  }
}

/// Answers `io.threadkeeper.Status` in the daemon.
struct StatusHandler: LocalAPIHandler {
  /// From one look to the next. Each goes through all border routers, so it is not more often.
  private static let interval = Duration.seconds(1)

  let context: OperationContext
  let runtime: @Sendable () -> DaemonState

  var interface: VarlinkInterface { .status }

  var endpoints: [VarlinkEndpoint] {
    [
      StatusMethods.get.answered { _, _ in report },
      StatusMethods.watch.answered { _, replies in try sendChanges(every: Self.interval, to: replies) { report } },
    ]
  }

  private var report: StatusMethods.Reply {
    let homes = context.bridge.loop.homes.snapshot
    return StatusMethods.Reply(status: StatusReport(homes, context.settings, context.store, runtime: runtime()))
  }
}

/// The methods of `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
package enum StatusMethods {
  package struct Reply: Codable, Sendable { package let status: StatusReport }

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Get", for: .reader)
  package static let watch = VarlinkStream<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Watch", for: .reader)
}
