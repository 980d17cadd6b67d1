// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// The store of the settings that are being set up.
struct SetupStore: Sendable {
  struct Result: Sendable {
    var madeStore = false
    var storedPassword = false
    var isRunning = false
  }

  let settings: Settings
  /// Those before.
  let current: Settings
  let prompt: any LoginPrompt
  let isAsking: Bool

  /// The password that is known for a login: of the settings, or stored. Nobody is asked for what opens the store.
  static func password(
    of username: String, at broker: SetupAnswers.Broker, _ current: Settings
  ) async -> SecretText? {
    guard case .own(let host, let port, let caFile) = broker else { return nil }
    var settings = current
    settings.mqtt.host = .named(host)
    settings.mqtt.port = port
    settings.mqtt.username = username
    settings.mqtt.tls = caFile.map { .init(caFile: $0) }
    if let password = current.mqtt.password, current.mqtt.username == username,
      BrokerAddress(current.mqtt) == BrokerAddress(settings.mqtt)
    {
      return password
    }
    let named = settings
    return try? await StoreOwner.run(named) { () -> SecretText? in
      let login = try LoginClient(named).stored
      return login.map {
        SecretText($0.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      }
    }
  }

  /// A daemon that runs with another broker would not take this one's password.
  ///
  /// - Throws: `CommandFailure` with status 75 where there is nobody to stop it.
  func waitForOtherBroker(needsPassword: Bool) async throws {
    guard needsPassword, let address = BrokerAddress(settings.mqtt) else { return }
    let former = BrokerAddress(current.mqtt)
    let changesTLS =
      former?.host == address.host && former?.port == address.port
      && former?.isEncrypted != address.isEncrypted
    while true {
      let isOther = try await StoreOwner.run(settings) {
        guard StoreLock.holder(of: OpenStore.location(settings)) != nil,
          let report = try await StatusClient(settings: settings).report()
        else { return false }
        let (broker, login) = (report.broker, report.login.username)
        return broker.embedded || broker.host != address.host || broker.port != Int(address.port)
          || changesTLS || (login != nil && login != settings.mqtt.username)
      }
      guard isOther else { return }
      guard isAsking else {
        throw CommandFailure(
          .temporary, "threadkeeper runs with another broker or login, and has the store",
          remedy:
            "nothing was written; stop it (`sudo systemctl stop threadkeeper`), and run this again")
      }
      prompt.say(
        "\nthreadkeeper runs with another broker or login, and has the store. Stop it in another terminal:\n"
          + "  sudo systemctl stop threadkeeper\n")
      guard try await prompt.ask("Press Enter when it has stopped: ", isHidden: false) != nil else {
        throw CancellationError()
      }
    }
  }

  /// Stores the password, and makes the store if there is none. One that is there is not changed otherwise.
  func fill(username: String?, password: SecretText?) async throws -> Result {
    try StoreOwner.prepareDirectory(settings)
    return try await StoreOwner.run(settings) {
      var result = Result()
      result.isRunning = StoreLock.holder(of: OpenStore.location(settings)) != nil
      if let username, let password {
        let client = try LoginClient(settings)
        let known = client.stored
        let login = BrokerLogin(
          username: username, password: try Password.checked(Array(password.revealed.utf8)[...]))
        if known?.username != username || known?.password != login.password {
          result.madeStore = try await client.store(login, over: known, validating: false).madeStore
          result.storedPassword = true
        }
      } else if !OpenStore.exists(settings) {
        let keychain = try OpenStore.create(settings)
        defer { keychain.close() }
        try BridgeRegistry.prepare(BridgeConfiguration(settings), keychain: keychain)
        result.madeStore = true
      }
      return result
    }
  }
}
