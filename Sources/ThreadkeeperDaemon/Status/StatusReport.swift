// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import KeychainCore
import LocalAPI
import Settings
import ThreadCredentialStore

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
    package let severity: AlertName.Severity
    package let alertname: AlertName
    package let count: Int

    package static func list(_ alerts: [AlertRecord]) -> [Alert] {
      let kinds = Dictionary(grouping: alerts) { Kind(severity: $0.severity, name: $0.name) }
      return kinds.map { Alert(severity: $0.severity, alertname: $0.name, count: $1.count) }
        .sorted { ($0.rank, $0.alertname.rawValue) < ($1.rank, $1.alertname.rawValue) }
    }

    private struct Kind: Hashable {
      package let severity: AlertName.Severity
      package let name: AlertName
    }

    private var rank: Int { AlertName.Severity.worstFirst.firstIndex(of: severity) ?? 0 }
  }

  /// Who the daemon is at the broker, and where the password comes from.
  package struct Login: Codable {
    package let username: String?
    package let passwordFrom: LoginInUse.Source
  }

  package let version: String
  package let running: Bool
  package let pid: Int32?
  package let routers: Int
  /// Of the routers.
  package let routersOffline: Int
  /// Of those that are online.
  package let routersDetached: Int
  /// On another network than the one they are configured for.
  package let routersElsewhere: Int
  package let networks: Int
  package let alerts: Int
  /// The worst first.
  package let alertsFiring: [Alert]
  package let credentials: Int
  package let preferredNetworks: [Preferred]
  /// That the store knows.
  package let homes: Int
  package let broker: DaemonState.Broker
  /// Absent while the broker takes everything that the daemon says.
  package let refused: DaemonState.Refused?
  /// Absent where no daemon answers.
  package let discovery: DaemonState.Discovery?
  /// Absent where no daemon answers.
  package let page: DaemonState.Page?
  package let login: Login
  package let intake: DaemonState.Intake
  package let store: Store
  package let teams: TeamCheck

  /// As a command sees it that has no answer of a daemon: without one, or beside one that does not answer.
  package init(_ registry: Registry) throws {
    let holder = StoreLock.holder(of: OpenStore.location(registry.settings))
    try self.init(registry, isRunning: holder != nil, pid: holder?.processID, runtime: nil)
  }

  /// As the daemon sees itself.
  package init(_ registry: Registry, runtime: DaemonState) throws {
    try self.init(registry, isRunning: true, pid: runtime.pid, runtime: runtime)
  }

  private init(
    _ registry: Registry, isRunning: Bool, pid: Int32?, runtime: DaemonState?
  ) throws {
    let settings = registry.settings
    let homes = try registry.registry.homes()
    version = threadkeeperVersion
    running = isRunning
    self.homes = homes.count
    refused = runtime?.refused
    discovery = runtime?.discovery
    page = runtime?.page
    self.pid = pid
    teams = try TeamCheck(settings, registry.registry, registry.keychain)
    routers = homes.map(\.routers).reduce(0, +)
    let records = try homes.flatMap { try registry.registry.routers(in: $0) }
    routersOffline = records.count { !$0.isOnline }
    routersDetached = records.count { $0.isOnline && $0.threadState == .detached }
    routersElsewhere = records.count(where: \.isElsewhere)
    networks = try homes.map { try registry.registry.networks(in: $0).count }.reduce(0, +)
    alertsFiring = Alert.list(
      try homes.flatMap { try registry.registry.alerts(in: $0, all: false) })
    alerts = alertsFiring.map(\.count).reduce(0, +)
    credentials = try homes.map { home in
      try registry.keychain.database.read {
        try ThreadCredentialStore(registry.keychain).count(in: home.name, $0)
      }
    }.reduce(0, +)
    preferredNetworks = homes.compactMap { home in
      home.preferred.map {
        Preferred(
          home: home.name, networkName: home.preferredName ?? "", extPanId: $0.description)
      }
    }
    if let running = runtime?.login {
      login = Login(username: running.username, passwordFrom: running.source)
    } else {
      let found = try? LoginInUse.find(settings, registry.keychain)
      login = Login(
        username: found?.username ?? settings.mqtt.username,
        passwordFrom: found?.source ?? .unreadable)
    }
    broker =
      runtime?.broker ?? DaemonState.Broker(settings, state: running ? .unknown : .notRunning)
    intake = runtime?.intake ?? DaemonState.Intake(state: running ? .unknown : .notRunning)
    store = Store(
      path: settings.store.path, id: registry.keychain.storeID.description,
      condition: registry.keychain.condition.words)
  }
}

/// Answers `io.threadkeeper.Status` in the daemon.
struct StatusHandler: LocalAPIHandler {
  /// From one look to the next. Each reads the registry, so it is not more often.
  private static let interval = Duration.seconds(1)

  let settings: Settings
  let keychain: Keychain
  let runtime: @Sendable () -> DaemonState

  var interface: VarlinkInterface { .status }

  var endpoints: [VarlinkEndpoint] {
    [
      StatusMethods.get.answered { _, _ in try report() },
      StatusMethods.places.answered { _, _ in
        StatusMethods.Places(pid: runtime().pid, keyFile: settings.store.keyFile)
      },
      StatusMethods.watch.answered { _, replies in
        try sendChanges(every: Self.interval, to: replies) { try report() }
      },
    ]
  }

  /// Reads the disk.
  private func report() throws -> StatusMethods.Reply {
    StatusMethods.Reply(status: try StatusReport(Registry(settings, keychain), runtime: runtime()))
  }
}

/// The methods of `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
package enum StatusMethods {
  package struct Reply: Codable, Sendable {
    package let status: StatusReport
  }

  /// The process, and with which files its store is opened, for commands that name no place.
  package struct Places: Codable, Sendable {
    package let pid: Int32
    package let keyFile: String
  }

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Get", for: .reader)
  package static let places = VarlinkMethod<VarlinkNothing, Places>(
    VarlinkInterface.status.name, "Places", for: .owner)
  package static let watch = VarlinkStream<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Watch", for: .reader)
}
