// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Locking: what is accessible "when unlocked" is out of reach, everything else goes on.
extension KeyRing {
  /// Whether what is accessible "when unlocked" can be reached.
  var isUnlocked: Bool { loaded.withLock { $0.isUnlocked } }

  /// Drops the session key and the class keys below it, and makes none of them come back before `unlock`.
  func lock() { loaded.withLock { $0.lock() } }

  /// Takes the session key out of `roots`, and what it wraps out of the records.
  func unlock(by roots: [KeyID: GuardedKey], in tx: ReadTransaction) throws {
    loaded.withLock { loaded in
      loaded.unlock()
      for (id, key) in roots where id.purpose == .session { loaded.add(key, as: id) }
    }
    try loadAll(in: tx)
  }

  /// The answer where the session key is missing.
  func locked() -> KeychainError {
    // Perhaps it is not locked, and somebody took the key's record away.
    do { try health.checkListing() } catch { return error }
    return KeychainError(
      .interactionNotAllowed, "this class of items is locked: unlock the store with its passphrase")
  }
}
