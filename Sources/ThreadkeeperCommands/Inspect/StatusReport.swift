// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import KeychainCore
import Settings
import ThreadCredentialStore

/// What `status` answers.
struct StatusReport: Codable {
  struct Store: Codable {
    let path: String
    let id: String
    let condition: String
    /// What the keeper can reach: `locked`, `unlocked`; null when none runs.
    let lock: String?
    let rotationPending: Bool
  }

  struct Preferred: Codable {
    let home: String
    let networkName: String
    let extPanId: String
  }

  /// Firing alerts of one name.
  struct Alert: Codable {
    let severity: AlertName.Severity
    let alertname: AlertName
    let count: Int

    static func list(_ alerts: [AlertRecord]) -> [Alert] {
      let kinds = Dictionary(grouping: alerts) { Kind(severity: $0.severity, name: $0.name) }
      return kinds.map { Alert(severity: $0.severity, alertname: $0.name, count: $1.count) }
        .sorted { ($0.rank, $0.alertname.rawValue) < ($1.rank, $1.alertname.rawValue) }
    }

    private struct Kind: Hashable {
      let severity: AlertName.Severity
      let name: AlertName
    }

    private var rank: Int { AlertName.Severity.worstFirst.firstIndex(of: severity) ?? 0 }
  }

  /// Who the keeper is at the broker, and where the password comes from.
  struct Login: Codable {
    let username: String?
    let passwordFrom: LoginInUse.Source

    var words: String {
      let name = username ?? "nobody"
      switch passwordFrom {
      case .settings: return "\(name), password from the settings"
      case .keychain: return "\(name), password from the store"
      case .none: return "\(name), without a password"
      case .unreadable: return "\(name), the stored password cannot be read"
      case .embedded: return "made by the private broker"
      }
    }
  }

  let version: String
  let running: Bool
  let pid: Int32?
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
  /// That the store knows.
  let homes: Int
  let broker: RuntimeRecord.Broker
  /// Absent while the broker takes everything that the keeper says.
  let refused: RuntimeRecord.Refused?
  let login: Login
  let intake: RuntimeRecord.Intake
  let store: Store
  let teams: TeamCheck

  /// As a command sees it that has no answer of a daemon: without one, or beside one that does not answer.
  init(_ registry: Registry) throws {
    let settings = registry.settings
    let holder = StoreLock.holder(of: OpenStore.location(settings))
    try self.init(
      registry, isRunning: holder != nil, pid: holder?.processID,
      runtime: holder?.processID.flatMap { RuntimeRecord.read(settings, of: $0) })
  }

  /// As the daemon sees itself.
  init(_ registry: Registry, runtime: RuntimeRecord) throws {
    try self.init(registry, isRunning: true, pid: runtime.pid, runtime: runtime)
  }

  private init(
    _ registry: Registry, isRunning: Bool, pid: Int32?, runtime: RuntimeRecord?
  ) throws {
    let settings = registry.settings
    let homes = try registry.registry.homes()
    version = threadkeeperVersion
    running = isRunning
    self.homes = homes.count
    refused = runtime?.refused
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
      runtime?.broker ?? RuntimeRecord.Broker(settings, state: running ? .unknown : .notRunning)
    intake = runtime?.intake ?? RuntimeRecord.Intake(state: running ? .unknown : .notRunning)
    store = Store(
      path: settings.store.path, id: registry.keychain.storeID.description,
      condition: registry.keychain.condition.words,
      lock: runtime?.unlocked.map { $0 ? "unlocked" : "locked" },
      rotationPending: try registry.keychain.rotationIsPending())
  }

  /// - Parameter width: columns of the terminal; nil: the lines are not wrapped.
  func text(width: Int?) -> String {
    let lines = [
      ("broker", broker.words.printable), ("login", login.words.printable),
      ("refused", refused?.words.printable ?? ""), ("intake", intake.words.printable),
      ("store", storeText), ("preferred", preferredText), ("routers", "\(routers)\(routerDetail)"),
      ("networks", "\(networks)"), ("credentials", "\(credentials)"),
    ]
    let head =
      "threadkeeper \(version.printable), \(running ? "running as process \(pid ?? 0)" : "not running")"
    return
      ([head]
      + (lines.filter { !$0.1.isEmpty } + alertLines + teams.lines).map { label, text in
        Self.label(label) + TextWrap.paragraph(text, indent: Self.labelWidth, width: width)
      })
      .map { $0 + "\n" }.joined()
  }

  private var routerDetail: String {
    let parts = [
      (routersOffline, "offline"), (routersDetached, "detached"),
      (routersElsewhere, "not on the network that they are configured for"),
    ]
    let shown = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
  }

  private static let labelWidth = 13

  private static func label(_ text: String) -> String {
    text + String(repeating: " ", count: labelWidth - text.count)
  }

  private var storeText: String {
    "\(store.path.printable), \(store.condition.printable)\(store.lock == "locked" ? ", locked" : "")"
  }

  private var preferredText: String {
    guard !preferredNetworks.isEmpty else { return "none" }
    return preferredNetworks.map {
      let home = homes > 1 ? "\($0.home.printable): " : ""
      return "\(home)\($0.networkName.printable) (\($0.extPanId.printable))"
    }.joined(separator: ", ")
  }

  /// One line for each severity that fires.
  private var alertLines: [(String, String)] {
    let lines = AlertName.Severity.worstFirst.compactMap { severity -> String? in
      let alerts = alertsFiring.filter { $0.severity == severity }
      guard !alerts.isEmpty else { return nil }
      let names = alerts.map { $0.alertname.rawValue + ($0.count > 1 ? " (\($0.count))" : "") }
      // The report may be another user's.
      let count = alerts.map(\.count).reduce(0, &+)
      return "\(count) \(severity.rawValue): \(names.joined(separator: ", "))"
    }
    guard !lines.isEmpty else { return [("alerts", "none")] }
    return lines.enumerated().map { ($0 == 0 ? "alerts" : "", $1) }
  }
}
