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

  /// The one of a store that is open.
  init(_ settings: Settings, _ keychain: Keychain) {
    self.settings = settings
    self.keychain = keychain
    registry = BridgeRegistry(keychain.database)
  }

  /// Asks for every home, in the order in which they were made.
  func list<Element>(_ ask: (BridgeRegistry, HomeRecord) throws -> [Element]) throws -> [Element] {
    try reading { try registry.homes().flatMap { try ask(registry, $0) } }
  }

  /// Explains what makes a store unreadable.
  ///
  /// - Throws: `CommandFailure`: 65 where the file is damaged, else 74.
  func reading<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      let isDamaged = error.kind == .corrupt || error.kind == .notADatabase
      throw CommandFailure(
        isDamaged ? .badInput : .inputOutput,
        "the store in \(settings.store.path) cannot be read: \(error.message)",
        remedy: isDamaged
          ? "the daemon makes damaged tables of its registry anew: try again while it runs. For "
            + "other damage stop it, and put a backup in place with `threadkeeper store restore`"
          : nil)
    }
  }
}
