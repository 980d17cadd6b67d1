// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
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
  private let turns = HandlerQueue("login")

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

  // MARK: From the local API

  /// - Throws: `CommandFailure`, what the store throws, or `CancellationError`.
  func store(
    _ request: LoginMethods.NewLogin, for actor: String
  ) async throws -> LoginMethods.Stored {
    let address = try address(of: request.broker)
    let login = try login(of: request)
    logger.debug("a login is to be stored", metadata: ["user": "\(login.username)"])
    do {
      if request.validate != false {
        try await LoginTrial(settings: settings, address: address).check(login)
      }
      let change = try await saveUnlessCancelled(login, at: address, for: actor)
      return .init(stored: change.rawValue, inUse: isStoredInUse)
    } catch let error as CancellationError {
      logger.notice(
        "a login is not stored", metadata: ["reason": "the client has gone, or the daemon ends"])
      throw error
    }
  }

  /// Whoever has given up should not find it stored.
  private func saveUnlessCancelled(
    _ login: BrokerLogin, at address: BrokerAddress, for actor: String
  ) async throws -> BrokerLoginStore.Change {
    let isCancelled = Mutex(false)
    return try await withTaskCancellationHandler {
      try await save(login, at: address, for: actor) {
        if isCancelled.withLock({ $0 }) { throw CancellationError() }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  func delete(
    _ request: LoginMethods.Broker, for actor: String
  ) async throws -> LoginMethods.Deleted {
    let users = try await delete(at: try address(of: request.broker), for: actor)
    return .init(deleted: users, inUse: isStoredInUse)
  }

  private func address(of broker: String) throws(CommandFailure) -> BrokerAddress {
    let address = try BrokerAddress(ofOwnBroker: settings.mqtt)
    guard broker == address.url else {
      throw CommandFailure(
        .configuration,
        "the running daemon speaks to \(address.url), these settings name \(broker)",
        remedy: "restart the daemon with the current settings")
    }
    return address
  }

  private var isStoredInUse: Bool { login.source != .settings }

  private func login(of request: LoginMethods.NewLogin) throws -> BrokerLogin {
    let username = try Username.checked(request.username)
    if let own = settings.mqtt.username, own != username {
      throw CommandFailure(
        .configuration, "the running daemon logs in as \(own), not as \(username)",
        remedy: "change or remove `mqtt.username`, and start the daemon again")
    }
    return BrokerLogin(
      username: username, password: try Password.checked(Array(request.password.utf8)[...]))
  }

  // MARK: The store

  /// Stores it, and goes on with it. One that is there is replaced unread: it may be damaged.
  ///
  /// - Parameters:
  ///   - actor: for whom, in the audit; nil is the daemon.
  ///   - check: called last before the commit; what it throws leaves all as it was.
  func save(
    _ login: BrokerLogin, at address: BrokerAddress, for actor: String? = nil,
    check: @escaping @Sendable () throws -> Void = {}
  ) async throws -> BrokerLoginStore.Change {
    try await turns.run { [self] in
      let change = try keychain.database.write {
        if let actor { keychain.act(as: actor, in: $0) }
        let change = try BrokerLoginStore(keychain, address).save(login, $0)
        try check()
        return change
      }
      logger.notice(
        "a new password for the broker is stored", metadata: ["user": "\(login.username)"])
      use(LoginInUse(login))
      return change
    }
  }

  private func delete(at address: BrokerAddress, for actor: String) async throws -> [String] {
    try await turns.run { [self] in
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
