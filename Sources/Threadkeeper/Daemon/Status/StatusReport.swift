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
struct StatusReport: Codable {
  struct Store: Codable {
    let path: String
    let id: String
    let condition: String
  }

  struct Preferred: Codable {
    let home: String
    let networkName: String
    let extPanId: String
  }

  /// Firing alerts of one name.
  struct Alert: Codable {
    let severity: String
    let alertname: String
    let count: Int

    static func list(_ alerts: [HomeCounts.AlertKind: Int]) -> [Alert] {
      func rank(_ kind: HomeCounts.AlertKind) -> (UInt8, String) {
        (kind.severity.rawValue, kind.name.word.description)
      }
      return alerts.sorted { rank($0.key) < rank($1.key) }.map {
        Alert(severity: $0.severity.word.description, alertname: $0.name.word.description, count: $1)
      }
    }
  }

  let version: String
  let pid: Int32
  let routers: Int
  /// Of the routers.
  let routersOffline: Int
  /// Of those that are online.
  let routersDetached: Int
  /// On another network than the one they are configured for.
  let routersElsewhere: Int
  let networks: Int
  let alerts: Int
  /// The worst first.
  let alertsFiring: [Alert]
  let credentials: Int
  let preferredNetworks: [Preferred]
  /// That the daemon serves.
  let homes: Int
  let broker: DaemonState.Broker
  /// Absent while the broker takes everything that the daemon says.
  let refused: DaemonState.Refused?
  let discovery: DaemonState.Discovery
  let page: DaemonState.Page
  /// Who the daemon is at the broker, and where the password comes from.
  let login: DaemonState.Login
  let intake: DaemonState.Intake
  let store: Store
  let teams: TeamCheck

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
  static let notWritable = "not writable"

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
enum StatusMethods {
  struct Reply: Codable, Sendable { let status: StatusReport }

  static let get = VarlinkMethod<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Get", for: .reader)
  static let watch = VarlinkStream<VarlinkNothing, Reply>(VarlinkInterface.status.name, "Watch", for: .reader)
}
