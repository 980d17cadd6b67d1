// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
import Dispatch
import KeychainCore
import Settings
import SodiumCrypto

/// Stores and deletes the login of the settings' broker: by the running keeper, which has the store's
/// lock, or without one in the store itself.
struct LoginDesk: Sendable {
  /// How long a store is waited for that somebody holds who does not listen (yet).
  private static let patience = Duration.seconds(10)

  let settings: Settings
  let address: BrokerAddress

  /// - Throws: `CommandFailure` with status 78 when the settings name no broker of their own.
  init(_ settings: Settings) throws(CommandFailure) {
    guard let address = BrokerAddress(settings.mqtt) else {
      throw CommandFailure(
        .configuration, "the private broker makes its own login, so there is none to keep",
        remedy: "name your broker in `mqtt.host`")
    }
    self.settings = settings
    self.address = address
  }

  /// The login that is stored now, as far as this user may look.
  var stored: BrokerLogin? {
    guard OpenStore.exists(settings), let keychain = try? OpenStore.forReading(settings) else {
      return nil
    }
    defer { keychain.close() }
    return try? keychain.database.read {
      try BrokerLoginStore(keychain, address).find(username: settings.mqtt.username, $0)
    }
  }

  struct Stored: Sendable {
    var change: String
    var isKeeperRunning: Bool
    var madeStore = false
  }

  /// Has the login validated and stored.
  ///
  /// - Parameter known: what was stored before the person was asked.
  func store(_ login: BrokerLogin, over known: BrokerLogin?, validating: Bool) async throws
    -> Stored
  {
    let request = DaemonRequest(
      command: .login, broker: address.url, username: login.username,
      password: login.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
      validate: validating)
    if let result = try await RunningKeeper(settings: settings).ask(request) {
      return Stored(change: result.stored ?? "", isKeeperRunning: true)
    }
    if validating { try await LoginTrial(settings: settings, address: address).check(login) }
    return try await withStore(orKeeper: request) { result in
      Stored(change: result.stored ?? "", isKeeperRunning: true)
    } write: {
      let madeStore = !OpenStore.exists(settings)
      let keychain = try madeStore ? OpenStore.create(settings) : OpenStore.forWriting(settings)
      defer { keychain.close() }
      if madeStore {
        try BridgeRegistry.prepare(BridgeConfiguration(settings), keychain: keychain)
      }
      let change = try keychain.database.write {
        try BrokerLoginStore(keychain, address).save(login, over: known, $0)
      }
      return Stored(change: change.rawValue, isKeeperRunning: false, madeStore: madeStore)
    }
  }

  struct Deleted: Sendable {
    var users: [String]
    var isKeeperRunning: Bool
  }

  func delete() async throws -> Deleted {
    let request = DaemonRequest(command: .logout, broker: address.url)
    if let result = try await RunningKeeper(settings: settings).ask(request) {
      return Deleted(users: result.deleted ?? [], isKeeperRunning: true)
    }
    return try await withStore(orKeeper: request) { result in
      Deleted(users: result.deleted ?? [], isKeeperRunning: true)
    } write: {
      let keychain = try OpenStore.forWriting(settings)
      defer { keychain.close() }
      let users = try keychain.database.write {
        try BrokerLoginStore(keychain, address).deleteAll($0)
      }
      return Deleted(users: users, isKeeperRunning: false)
    }
  }

  /// A keeper that is just starting, or ending, has the lock and does not listen: both are tried
  /// until one of them works.
  private func withStore<R: Sendable>(
    orKeeper request: DaemonRequest, answered: (DaemonAnswer.Result) -> R,
    write: () throws -> R
  ) async throws -> R {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do {
        return try write()
      } catch let failure as CommandFailure {
        guard failure.status == .temporary, ContinuousClock.now < deadline else { throw failure }
      }
      if let result = try await RunningKeeper(settings: settings).ask(request) {
        return answered(result)
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
