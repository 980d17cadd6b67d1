// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import SQLiteDatabase
import Settings

/// The registry of the store that the options name, read beside a running daemon too.
struct Registry {
  let settings: Settings
  let keychain: Keychain
  let registry: BridgeRegistry

  init(_ options: SettingsOptions) throws {
    settings = try options.loadOfStore()
    keychain = try OpenStore.forReading(settings)
    registry = BridgeRegistry(keychain.database)
  }

  /// Asks for every home, in the order in which they were made.
  func list<Element>(_ ask: (BridgeRegistry, HomeRecord) throws -> [Element]) throws -> [Element] {
    do {
      return try registry.homes().flatMap { try ask(registry, $0) }
    } catch let error as SQLiteError {
      throw CommandFailure(
        .inputOutput, "the store in \(settings.store.path) cannot be read: \(error.message)")
    }
  }
}
