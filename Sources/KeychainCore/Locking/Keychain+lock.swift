// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What a lock came to.
package enum KeychainLock: String, Equatable, Sendable {
  /// Only a passphrase or a recovery code brings the keys back.
  case locked
  /// There is no passphrase: this process holds its keys back, and whoever has another way into the
  /// store reaches everything all the same.
  case lockedWithoutPassphrase
}

/// Locking: what is accessible "when unlocked" is out of reach, everything else goes on.
extension Keychain {
  /// Whether what is accessible "when unlocked" can be reached.
  package var isUnlocked: Bool { state.withLock { $0.ring.isUnlocked } }

  /// Drops the session key and the class keys below it, and makes none of them come back before
  /// `unlock`. Reading that is under way ends with the keys that it has.
  @discardableResult
  package func lock() throws(KeychainError) -> KeychainLock {
    state.withLock { $0.ring.lock() }
    let isGuarded = try slots().contains { $0.kind.guardsSession }
    return isGuarded ? .locked : .lockedWithoutPassphrase
  }

  /// Brings the keys back that `lock` dropped, or that the way in which the store was opened did not
  /// reach.
  ///
  /// - Throws: `authFailed` when no slot opens with `secret`; `interactionNotAllowed` when the slot does
  ///   not reach what is accessible "when unlocked".
  package func unlock(with secret: KeySlotSecret) throws(KeychainError) {
    try KeychainError.wrap("unlocking the store") {
      try unlock(by: rootsOpened(by: secret))
      guard isUnlocked else {
        state.withLock { $0.ring.lock() }
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
    let octets = try secret.octets()
    return try database.read { tx in
      (
        try Self.openSlots(secret, octets, store: storeID, arena: arena, in: tx),
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
      try write { try unlock(by: opened, in: $0) }
    }
  }

  private func unlock(
    by opened: (roots: [KeyID: GuardedKey], mark: KeySetMark), in tx: ReadTransaction
  ) throws {
    guard try KeySetMark(in: tx).hasSameSlots(as: opened.mark) else {
      throw KeychainError(
        .notAvailable, "the key slots have changed meanwhile: try again", isTemporary: true)
    }
    let now = Self.monotonicSeconds()
    state.withLock { state in
      state.ring.unlock(now: now)
      for (id, key) in opened.roots where id.purpose == .session { state.ring.add(key, as: id) }
    }
    try loadKeys(in: tx)
  }

  /// Locks when what is accessible "when unlocked" was not used for so many seconds.
  ///
  /// - Returns: whether it has locked just now.
  package func lockIfIdle(for seconds: Int) -> Bool {
    let now = Self.monotonicSeconds()
    return state.withLock { state in
      guard seconds > 0, let id = state.ring.current[.session], state.ring.keys[id] != nil,
        now - state.ring.lastUse >= seconds
      else { return false }
      state.ring.lock()
      return true
    }
  }
}
