import Bridge
import KeychainCore
import Logging
import SQLiteDatabase
import Settings
import SodiumCrypto
import Synchronization

/// The user name and password that the daemon goes to its broker with, and where they come from.
struct LoginInUse: Equatable {
  var username: String?
  var password: SecretText?
  var source: DaemonStatus.Login.Source
}

extension LoginInUse {
  /// Looks into the settings, and if they name no password, into the store.
  static func find(_ settings: Settings, _ keychain: Keychain) throws -> LoginInUse {
    let login = LoginInUse(settings.mqtt)
    guard login.source == .none, let address = BrokerAddress(settings.mqtt) else { return login }
    let found = try keychain.database.read {
      try BrokerLoginStore(keychain, address).find(username: login.username, $0)
    }
    return found.map { LoginInUse($0) } ?? login
  }

  /// What the settings say.
  init(_ mqtt: Settings.MQTT) {
    if mqtt.host.isEmbedded {
      self.init(source: .embedded)
    } else {
      self.init(username: mqtt.username, password: mqtt.password, source: mqtt.password == nil ? .none : .settings)
    }
  }

  init(_ login: BrokerLogin) {
    self.init(username: login.username, password: SecretText(login.text), source: .keychain)
  }

  /// What helps when the broker refuses it.
  var remedy: String {
    switch source {
    case .settings:
      "Correct `mqtt.username` and `mqtt.password` in the settings and start the daemon again, "
        + "or the login on the broker."
    case .keychain, .none, .unreadable:
      "Run `threadkeeper login`: the daemon goes on with the new password at once. Or correct the "
        + "login on the broker: the daemon goes on trying."
    case .embedded: "Start the daemon again: its private broker gets new logins."
    }
  }
}

extension BrokerAddress {
  /// Nil for the private broker.
  init?(_ mqtt: Settings.MQTT) {
    guard case .named(let host) = mqtt.host else { return nil }
    self.init(host: host, port: mqtt.port, isEncrypted: mqtt.tls != nil)
  }

  /// - Throws: `CommandFailure` with status 78 when the settings name no broker of their own.
  init(ofOwnBroker mqtt: Settings.MQTT) throws(CommandFailure) {
    guard let address = BrokerAddress(mqtt) else {
      throw CommandFailure(
        .configuration, "the private broker makes its own login, so there is none to keep",
        remedy: "name your broker in `mqtt.host`")
    }
    self = address
  }
}

/// Takes a new login while the daemon runs.
final class BrokerLoginService: Sendable {
  let settings: Settings
  let bridge: Bridge
  let logger: Logger
  private let inUse: Mutex<LoginInUse>
  /// One after the other, so that what is stored last is also what is used.
  private let turns = Mutex(())

  init(_ settings: Settings, bridge: Bridge, login: LoginInUse, logger: Logger) {
    self.settings = settings
    self.bridge = bridge
    self.logger = logger
    inUse = Mutex(login)
  }

  var login: LoginInUse { inUse.withLock { $0 } }

  var isStoredInUse: Bool { login.source != .settings }

  /// Stores it, and goes on with it. One that is there is replaced unread: it may be damaged.
  ///
  /// - Parameter actor: for whom, in the audit.
  func save(_ login: BrokerLogin, at address: BrokerAddress, for actor: String) throws -> BrokerLoginStore.Change {
    let keychain = try keychain()
    return try turns.withLock { _ in
      let change = try keychain.database.write {
        keychain.act(as: actor, in: $0)
        return try BrokerLoginStore(keychain, address).save(login, $0)
      }
      logger.notice("a new password for the broker is stored", metadata: ["user": "\(login.username)"])
      use(LoginInUse(login))
      return change
    }
  }

  /// - Returns: the users whose logins are deleted.
  func delete(at address: BrokerAddress, for actor: String) throws -> [String] {
    let keychain = try keychain()
    return try turns.withLock { _ in
      let users = try keychain.deleting {
        try keychain.database.write {
          keychain.act(as: actor, in: $0)
          return try BrokerLoginStore(keychain, address).deleteAll($0)
        }
      }
      guard !users.isEmpty else { return [] }
      logger.notice("the password for the broker is deleted")
      use(LoginInUse(username: settings.mqtt.username, source: .none))
      return users
    }
  }

  private func keychain() throws(CommandFailure) -> Keychain {
    try bridge.store.keychain(instead: "set `mqtt.username` and `mqtt.password` of each node, and start it again")
  }

  private func use(_ new: LoginInUse) {
    let isOther = inUse.withLock { login in
      guard login.source != .settings, login != new else { return false }
      login = new
      return true
    }
    // One that the broker has refused may be right by now.
    guard isOther || (login == new && bridge.monitor.snapshot.login != .accepted) else { return }
    bridge.useLogin(username: new.username, password: new.password?.revealed)
  }
}
