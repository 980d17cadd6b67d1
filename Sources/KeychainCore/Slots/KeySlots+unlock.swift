// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Locking and unlocking: the session key comes out of a slot again.
extension KeySlots {
  /// Drops the session key and the class keys below it, and makes none of them come back before
  /// `unlock`. Reading that is under way ends with the keys that it has.
  func lock() { keys.lock() }

  /// Brings the keys back that `lock` dropped, or that the way in which the store was opened did not
  /// reach.
  ///
  /// - Throws: `authFailed` when no slot opens with `secret`; `interactionNotAllowed` when the slot does
  ///   not reach what is accessible "when unlocked".
  func unlock(with secret: KeySlotSecret) throws(KeychainError) {
    try KeychainError.wrap("unlocking the store") {
      try unlock(by: rootsOpened(by: secret))
      guard keys.isUnlocked else {
        keys.lock()
        throw KeychainError(
          .interactionNotAllowed,
          "\(secret.words) opens the store, but not what is locked: give the passphrase or a recovery"
            + " code")
      }
    }
  }

  /// The root keys in the slots that `secret` opens, and which slots there were. A passphrase takes its time.
  func rootsOpened(
    by secret: KeySlotSecret
  ) throws -> (roots: [KeyID: GuardedKey], mark: KeySetMark) {
    let bytes = try secret.bytes()
    return try database.read { tx in
      (
        try Self.open(secret, bytes, store: store, arena: keys.arena, in: tx),
        try KeySetMark(in: tx)
      )
    }
  }

  /// - Throws: `notAvailable` when the slots are others by now.
  func unlock(by opened: (roots: [KeyID: GuardedKey], mark: KeySetMark)) throws {
    if access == .readOnly {
      try database.read { try unlock(by: opened, in: $0) }
    } else {
      // Not beside who renews the root keys: the session key would be an old one.
      try transactions.write { try unlock(by: opened, in: $0) }
    }
  }

  private func unlock(
    by opened: (roots: [KeyID: GuardedKey], mark: KeySetMark), in tx: ReadTransaction
  ) throws {
    guard try KeySetMark(in: tx).hasSameSlots(as: opened.mark) else {
      throw KeychainError(
        .notAvailable, "the key slots have changed meanwhile: try again", isTemporary: true)
    }
    try keys.unlock(by: opened.roots, in: tx)
  }
}
