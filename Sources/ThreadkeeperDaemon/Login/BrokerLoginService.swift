// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import SodiumCrypto
import Synchronization

/// Takes a new login while the daemon runs: from `threadkeeper login` through the socket, or from the
/// person at the terminal when the broker refuses the one there is.
final class BrokerLoginService: Service {
  let settings: Settings
  let keychain: Keychain
  let bridge: Bridge
  let logger: Logger
  let prompt: any LoginPrompt
  private let inUse: Mutex<LoginInUse>
  private let isAsking = Mutex(false)
  /// One after the other, so that what is stored last is also what is used.
  private let turns = Mutex(())

  init(
    _ settings: Settings, keychain: Keychain, bridge: Bridge, login: LoginInUse,
    prompt: any LoginPrompt, logger: Logger
  ) {
    self.settings = settings
    self.keychain = keychain
    self.bridge = bridge
    self.prompt = prompt
    self.logger = logger
    inUse = Mutex(login)
  }

  var login: LoginInUse { inUse.withLock { $0 } }

  /// Whether the daemon was ended with a question open: then nobody has been told anything else.
  var endedAsking: Bool { isAsking.withLock { $0 } }

  func run() async throws {
    if isStoredInUse, BrokerAddress(settings.mqtt) != nil, prompt.isPossible {
      await askWhenRefused()
    } else {
      try? await gracefulShutdown()
    }
  }

  var isStoredInUse: Bool { login.source != .settings }

  /// Stores it, and goes on with it. One that is there is replaced unread: it may be damaged.
  ///
  /// - Parameter actor: for whom, in the audit; nil is the daemon.
  func save(
    _ login: BrokerLogin, at address: BrokerAddress, for actor: String? = nil
  ) throws -> BrokerLoginStore.Change {
    try turns.withLock { _ in
      let change = try keychain.database.write {
        if let actor { keychain.act(as: actor, in: $0) }
        return try BrokerLoginStore(keychain, address).save(login, $0)
      }
      logger.notice(
        "a new password for the broker is stored", metadata: ["user": "\(login.username)"])
      use(LoginInUse(login))
      return change
    }
  }

  /// - Returns: the users whose logins are deleted.
  func delete(at address: BrokerAddress, for actor: String) throws -> [String] {
    try turns.withLock { _ in
      let users = try keychain.database.write {
        keychain.act(as: actor, in: $0)
        return try BrokerLoginStore(keychain, address).deleteAll($0)
      }
      guard !users.isEmpty else { return [] }
      logger.notice("the password for the broker is deleted")
      use(LoginInUse(username: settings.mqtt.username, password: nil, source: .none))
      return users
    }
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

  func setAsking(_ asks: Bool) { isAsking.withLock { $0 = asks } }
}
