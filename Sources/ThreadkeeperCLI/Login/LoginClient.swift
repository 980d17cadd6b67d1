// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
import KeychainCore
import Settings
import SodiumCrypto
import ThreadkeeperDaemon
import VarlinkSocket

/// Stores and deletes the login of the settings' broker: by the running daemon, which has the store's
/// lock, or without one in the store itself.
struct LoginClient: Sendable {
  /// Longer than the daemon may take to ask its broker.
  private static let timeout = Duration.seconds(60)

  let settings: Settings
  let address: BrokerAddress

  /// - Throws: `CommandFailure` with status 78 when the settings name no broker of their own.
  init(_ settings: Settings) throws(CommandFailure) {
    self.settings = settings
    address = try BrokerAddress(ofOwnBroker: settings.mqtt)
  }

  /// The login that is stored now, as far as this user may look. Nobody is asked for what opens the store.
  var stored: BrokerLogin? {
    guard OpenStore.exists(settings),
      let keychain = try? OpenStore.forReading(settings, ask: { _ in nil })
    else { return nil }
    defer { keychain.close() }
    return try? keychain.database.read {
      try BrokerLoginStore(keychain, address).find(username: settings.mqtt.username, $0)
    }
  }

  struct Stored: Sendable {
    var change: String
    var isDaemonRunning: Bool
    /// Whether the daemon goes to its broker with it; not while its settings have a password.
    var isInUse: Bool
    var madeStore = false
  }

  /// Has the login validated and stored.
  ///
  /// - Parameter known: what was stored before the person was asked.
  /// - Throws: `LoginRefusal` when the broker refuses it; `CommandFailure` for all else.
  func store(_ login: BrokerLogin, over known: BrokerLogin?, validating: Bool) async throws
    -> Stored
  {
    let request = LoginMethods.NewLogin(
      broker: address.url, username: login.username,
      password: login.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
      validate: validating)
    var isAccepted = !validating
    return try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(LoginMethods.store, request, isTrial: validating).map {
        Stored(change: $0.stored, isDaemonRunning: true, isInUse: $0.inUse)
      }
    } store: {
      if !isAccepted {
        try await validate(login)
        isAccepted = true
      }
      let madeStore = !OpenStore.exists(settings)
      let keychain =
        try madeStore
        ? OpenStore.create(settings)
        : await InterruptibleWork.result { stop in
          try OpenStore.forWriting(settings) { try StoreSecret.ask($0, until: stop) }
        }
      defer { keychain.close() }
      if madeStore {
        try BridgeRegistry.prepare(BridgeConfiguration(settings), keychain: keychain)
      }
      // From here on it is no longer "nothing was stored".
      try Task.checkCancellation()
      let change = try keychain.database.write {
        try BrokerLoginStore(keychain, address).save(login, over: known, $0)
      }
      return Stored(
        change: change.rawValue, isDaemonRunning: false, isInUse: isStoredInUse,
        madeStore: madeStore)
    }
  }

  /// A daemon that ends in the middle has stored nothing: then another one is asked.
  ///
  /// - Parameter isTrial: whether the broker of the daemon may refuse the login.
  /// - Returns: nil when no daemon listens.
  private func ask<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request, isTrial: Bool
  ) async throws -> Reply? {
    try await DaemonClient(settings: settings).call(method, request, within: Self.timeout) {
      switch $0.code {
      case VarlinkError.endingCode: DaemonClient.Ended()
      case VarlinkError.refusedCode where isTrial: LoginRefusal(failure: $0.commandFailure)
      default: $0.commandFailure
      }
    }
  }

  private func validate(_ login: BrokerLogin) async throws {
    do {
      try await LoginTrial(settings: settings, address: address).check(login)
    } catch let failure as CommandFailure {
      guard failure.status == .notPermitted else { throw failure }
      throw LoginRefusal(failure: failure)
    }
  }

  struct Deleted: Sendable {
    var users: [String]
    var isDaemonRunning: Bool
    /// Whether the daemon had no other password than the stored one.
    var wasInUse: Bool
  }

  func delete() async throws -> Deleted {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(LoginMethods.delete, .init(address.url), isTrial: false).map {
        Deleted(users: $0.deleted, isDaemonRunning: true, wasInUse: $0.inUse)
      }
    } store: {
      let keychain = try OpenStore.forWriting(settings)
      defer { keychain.close() }
      let users = try keychain.database.write {
        try BrokerLoginStore(keychain, address).deleteAll($0)
      }
      return Deleted(users: users, isDaemonRunning: false, wasInUse: isStoredInUse)
    }
  }

  /// By the settings of this process, which is no daemon.
  private var isStoredInUse: Bool { settings.mqtt.password == nil }
}

/// The broker refuses a login: another password may be right. Nothing else that goes wrong is a reason to ask for one
/// again, whatever its exit status.
struct LoginRefusal: Error {
  let failure: CommandFailure
}
