// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// An encrypted store of items, open.
///
/// Every call takes the transaction that it works in, so that items and the caller's own tables
/// change together:
///
///     try keychain.database.write { tx in
///       try keychain.add(item, in: tx)
///       try tx.execute("UPDATE …")
///     }
///
/// What is where: `StoreSchema` (tables), `SealedPart` (encryption), `RowForm` (what is indexed),
/// `Manifest`, `Anchor`.
package final class Keychain: Sendable {
  package enum Access: Sendable {
    /// Takes the store's lock, for as long as the keychain is open.
    case readWrite
    /// Changes nothing, and works beside a process that holds the lock.
    case readOnly
    /// Several processes change the store by turns: takes the lock for each `Keychain.write`.
    case shared
  }

  struct State {
    var ring: KeyRing
    var condition = StoreCondition.healthy
    var quarantine: Set<Int64> = []
    var notices: [StoreNotice] = []
    /// A secret was deleted or changed, and its old octets may still lie in the log.
    var owesErasure = false
    /// A reader was in the way of it.
    var isErasureLate = false
    var lock: StoreLock?
    var isClosed = false
    /// Of a shared store: the keys that were there when they were last read.
    var knownKeys: KeySetMark
    /// Of a shared store: others changed the ways into it.
    var isOutdated = false
    var isRotating = false
    /// Whether one was begun in this process, together with new root keys, and is to go on.
    var hasBegunRotation = false
    /// Of the last one that came to its end in this process.
    var rotationLeft: LeftByRotation?
  }

  package let location: StoreLocation
  /// Other components keep their tables here too: `database.migrate("bridge", …)`.
  package let database: SQLiteDatabase
  package let storeID: StoreID
  package let access: Access
  let options: KeychainOptions
  let arena: KeyArena
  let anchor: AnchorKeeper
  let state: Locked<State>
  /// Of a shared store: the threads of this process take turns here, so that they need not poll.
  /// Not `Void`, which has no address of its own: the thread sanitizer would see a race.
  let turn = Locked(false)

  init(
    location: StoreLocation, database: SQLiteDatabase, storeID: StoreID, access: Access,
    options: KeychainOptions, arena: KeyArena, anchor: AnchorKeeper, state: sending State
  ) {
    self.location = location
    self.database = database
    self.storeID = storeID
    self.access = access
    self.options = options
    self.arena = arena
    self.anchor = anchor
    self.state = Locked(state)
  }

  deinit { close() }

  /// How long what is done last waits for other processes, in nanoseconds.
  static let patience: UInt64 = 1_000_000_000

  package var condition: StoreCondition { state.withLock { $0.condition } }

  /// The rows that were found altered, by row id. They stay where they are.
  package var quarantine: Set<Int64> { state.withLock { $0.quarantine } }

  /// What should be told to a person once.
  package var notices: [StoreNotice] { state.withLock { $0.notices } }

  /// Refuses a change of a store that is open for reading, or that is not what it should be.
  package func checkWritable() throws(KeychainError) {
    guard access != .readOnly else {
      throw KeychainError(.readOnly, "the store is open for reading only")
    }
    if case .readOnly(let reason) = condition {
      throw KeychainError(.readOnly, "the store takes no changes: \(reason)")
    }
  }

  func note(_ notice: StoreNotice) {
    state.withLock { state in
      if !state.notices.contains(notice) { state.notices.append(notice) }
    }
  }

  /// The answer for a row that does not open; the row is remembered.
  func corrupt(row: Int64, _ what: String) -> KeychainError {
    state.withLock { _ = $0.quarantine.insert(row) }
    return KeychainError(
      .decode,
      "item row \(row): \(what) was altered or is damaged. The row is kept: restore a backup")
  }

  /// Writes the anchor, moves the log into the database, wipes the keys and gives up the lock.
  package func close() {
    let wasOpen = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    guard wasOpen else { return }
    if access != .readOnly {
      _ = try? eraseDeletedPages()
      if case .healthy = condition { flushAnchor(patience: Self.patience) }
    }
    database.close()
    state.withLock { state in
      state.ring = KeyRing(roots: [:])
      state.lock = nil
    }
  }
}
