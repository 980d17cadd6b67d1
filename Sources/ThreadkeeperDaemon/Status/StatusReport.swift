// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import KeychainCore
import LocalAPI
import SQLiteDatabase
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
  package let discovery: DaemonState.Discovery
  package let page: DaemonState.Page
  /// Who the daemon is at the broker, and where the password comes from.
  package let login: DaemonState.Login
  package let intake: DaemonState.Intake
  package let store: Store
  package let teams: TeamCheck

  init(_ registry: Registry, runtime: DaemonState) throws {
    let settings = registry.settings
    let homes = try registry.registry.homes()
    version = threadkeeperVersion
    pid = runtime.pid
    (broker, login, intake) = (runtime.broker, runtime.login, runtime.intake)
    (refused, discovery, page) = (runtime.refused, runtime.discovery, runtime.page)
    self.homes = homes.count
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

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Get", for: .reader)
  package static let watch = VarlinkStream<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Watch", for: .reader)
}

/// The registry of a store, read beside a running daemon too.
package struct Registry {
  package let settings: Settings
  package let keychain: Keychain
  package let registry: BridgeRegistry
  package var credentials: ThreadCredentialStore { ThreadCredentialStore(keychain) }

  package init(_ settings: Settings, _ keychain: Keychain) {
    self.settings = settings
    self.keychain = keychain
    registry = BridgeRegistry(keychain.database)
  }

  /// Asks for every home, in the order in which they were made.
  package func list<Element>(_ ask: (BridgeRegistry, HomeRecord) throws -> [Element]) throws
    -> [Element]
  {
    try reading { try registry.homes().flatMap { try ask(registry, $0) } }
  }

  /// Explains what makes a store unreadable.
  ///
  /// - Throws: `CommandFailure`: 65 where the file is damaged, else 74.
  package func reading<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      let isDamaged = error.kind == .corrupt || error.kind == .notADatabase
      throw CommandFailure(
        isDamaged ? .badInput : .inputOutput,
        "the store in \(settings.store.path) cannot be read: \(error.message)",
        remedy: isDamaged
          ? "the daemon recreates damaged tables of its registry: try again while it runs. For "
            + "other damage stop it, and put a backup in place with `threadkeeper store restore`"
          : nil)
    }
  }
}
