// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
import DaemonSocket
import Dispatch
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
  private let turns = DispatchQueue(label: "threadkeeper.login")

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

  // MARK: From the socket

  func answer(_ bytes: [UInt8], _ connection: DaemonConnection) async -> LoginRequest.Answer {
    do {
      guard let request = LoginRequest(bytes: bytes) else {
        throw CommandFailure(
          .usage, "the running daemon does not know this request",
          remedy: "is it of another version? Start it again")
      }
      try DaemonRequestVersion.check(request.v)
      let address = try BrokerAddress(ofOwnBroker: settings.mqtt)
      guard request.broker == address.url else {
        throw CommandFailure(
          .configuration,
          "the running daemon speaks to \(address.url), these settings name \(request.broker)",
          remedy: "start the daemon again with the settings of now")
      }
      switch request.command {
      case .login:
        let login = try self.login(of: request)
        logger.debug("a login is to be stored", metadata: ["user": "\(login.username)"])
        if request.validate != false {
          try await LoginTrial(settings: settings, address: address).check(login)
        }
        let actor = OpenStore.actor(user: connection.peer.user)
        let change = try await save(login, at: address, for: actor) { [logger] in
          // Whoever has given up should not find it stored.
          guard connection.isGone else { return }
          logger.notice("a login is not stored", metadata: ["reason": "nobody waits for it"])
          throw CommandFailure(.temporary, "nobody waits for it")
        }
        return .init(LoginReport(stored: change.rawValue, inUse: isStoredInUse))
      case .logout:
        let users = try await delete(
          at: address, for: OpenStore.actor(user: connection.peer.user))
        return .init(LoginReport(deleted: users, inUse: isStoredInUse))
      }
    } catch is CancellationError {
      return .init(CommandFailure(.temporary, "the daemon ends: nothing was stored"))
    } catch let error as KeychainError {
      var answer = LoginRequest.Answer(failing: error)
      // No other password helps against a store that is locked.
      if answer.error?.code == DaemonAnswerForm.refused {
        answer.error?.code = DaemonAnswerForm.store
      }
      return answer
    } catch {
      return .init(failing: error)
    }
  }

  private var isStoredInUse: Bool { login.source != .settings }

  private func login(of request: LoginRequest) throws -> BrokerLogin {
    guard let name = request.username, let password = request.password else {
      throw CommandFailure(.usage, "a login has a user name and a password")
    }
    let username = try Username.checked(name)
    if let own = settings.mqtt.username, own != username {
      throw CommandFailure(
        .configuration, "the running daemon logs in as \(own), not as \(username)",
        remedy: "change or remove `mqtt.username`, and start the daemon again")
    }
    return BrokerLogin(
      username: username, password: try Password.checked(Array(password.utf8)[...]))
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
    try await inTurn { [self] in
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
    try await inTurn { [self] in
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

  /// One after the other, so that what is stored last is also what is used. On a thread of the
  /// system's: a commit waits for the disk, and Swift has few threads.
  private func inTurn<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      turns.async { continuation.resume(with: Result { try body() }) }
    }
  }

  func setAsking(_ asks: Bool) { isAsking.withLock { $0 = asks } }
}
