// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import SQLiteDatabase
import Settings
import ThreadCredentialStore

/// The registry of a store, read beside a running daemon too.
package struct Registry {
  package let settings: Settings
  package let keychain: Keychain
  package let registry: BridgeRegistry
  package var credentials: ThreadCredentialStore { ThreadCredentialStore(keychain) }

  package init(_ settings: Settings, _ keychain: Keychain) {
    self.settings = settings
    self.keychain = keychain
    registry = BridgeRegistry(keychain.database)
  }

  /// Asks for every home, in the order in which they were made.
  package func list<Element>(_ ask: (BridgeRegistry, HomeRecord) throws -> [Element]) throws
    -> [Element]
  {
    try reading { try registry.homes().flatMap { try ask(registry, $0) } }
  }

  /// Explains what makes a store unreadable.
  ///
  /// - Throws: `CommandFailure`: 65 where the file is damaged, else 74.
  package func reading<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SQLiteError {
      let isDamaged = error.kind == .corrupt || error.kind == .notADatabase
      throw CommandFailure(
        isDamaged ? .badInput : .inputOutput,
        "the store in \(settings.store.path) cannot be read: \(error.message)",
        remedy: isDamaged
          ? "the daemon recreates damaged tables of its registry: try again while it runs. For "
            + "other damage stop it, and put a backup in place with `threadkeeper store restore`"
          : nil)
    }
  }
}
