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

  /// The password that is known for a login: of the settings, or stored. Nobody is asked for what opens the store.
  static func password(for mqtt: Settings.MQTT, _ current: Settings) async -> SecretText? {
    if let password = current.mqtt.password, current.mqtt.username == mqtt.username,
      BrokerAddress(current.mqtt) == BrokerAddress(mqtt)
    {
      return password
    }
    var settings = current
    settings.mqtt = mqtt
    let named = settings
    return try? await StoreOwner.run(named) {
      try LoginClient(named).stored.map {
        SecretText($0.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      }
    }
  }

  /// Stores the password, and makes the store if there is none. One that is there is not changed otherwise.
  ///
  /// - Throws: `CommandFailure` with status 75 where a daemon has the store that has another broker or login.
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
          do {
            result.madeStore = try await client.store(login, over: known, validating: false)
              .madeStore
          } catch let failure as CommandFailure
            where result.isRunning && failure.status == .configuration
          {
            throw CommandFailure(
              .temporary, failure.message,
              remedy:
                "nothing was written; stop it (`sudo systemctl stop threadkeeper`), and run this again"
            )
          }
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
