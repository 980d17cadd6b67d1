// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import KeychainCore
import Settings
import ThreadCredentialStore

/// `threadkeeper status`
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show how the keeper is: the broker, the store, and what is in it.",
    discussion: """
      Examples:
        threadkeeper status
        threadkeeper status --json | jq .alerts
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let registry = try Registry(options)
    let report = try registry.reading { try StatusReport(registry) }
    try output.show(report, text: report.text)
  }
}

/// What `status` answers.
struct StatusReport: Encodable {
  struct Store: Encodable {
    let path: String
    let id: String
    let condition: String
    /// What the keeper can reach: `locked`, `unlocked`; null when none runs.
    let lock: String?
    let rotationPending: Bool
  }

  struct Preferred: Encodable {
    let home: String
    let networkName: String
    let extPanId: String
  }

  /// Who the keeper is at the broker, and where the password comes from.
  struct Login: Encodable {
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
  let networks: Int
  let alerts: Int
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

  init(_ registry: Registry) throws {
    let settings = registry.settings
    let holder = StoreLock.holder(of: OpenStore.location(settings))
    let runtime = holder?.processID.flatMap { RuntimeRecord.read(settings, of: $0) }
    let homes = try registry.registry.homes()
    version = threadkeeperVersion
    running = holder != nil
    self.homes = homes.count
    refused = runtime?.refused
    pid = holder?.processID
    routers = homes.map(\.routers).reduce(0, +)
    networks = try homes.map { try registry.registry.networks(in: $0).count }.reduce(0, +)
    alerts = try homes.map { try registry.registry.activeAlerts(in: $0) }.reduce(0, +)
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

  var text: String {
    let preferred =
      preferredNetworks.isEmpty
      ? "none"
      : preferredNetworks.map {
        let home = homes > 1 ? "\($0.home.printable): " : ""
        return "\(home)\($0.networkName.printable) (\($0.extPanId))"
      }.joined(separator: ", ")
    let refused = refused.map { "refused      \($0.words.printable)\n" } ?? ""
    return """
      threadkeeper \(version), \(running ? "running as process \(pid ?? 0)" : "not running")
      broker       \(broker.words.printable)
      login        \(login.words.printable)
      \(refused)intake       \(intake.words.printable)
      store        \(store.path), \(store.condition)\(store.lock == "locked" ? ", locked" : "")
      preferred    \(preferred)
      routers      \(routers)
      networks     \(networks)
      credentials  \(credentials)
      alerts       \(alerts)

      """
  }
}
