// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Drives what was deleted out of the write-ahead log: the pages in the database are zeroed by
/// `secure_delete`, but older ones lie in the log until it is cut. Keys whose records are gone are
/// forgotten then, too, since no reader can need them any more.
final class LogErasure: Sendable {
  private struct State {
    /// A secret was deleted or changed, and its old bytes may still lie in the log.
    var isOwed: Bool
    /// Keys whose records are gone. A reader may still be at an older state of the store.
    var retired: Set<KeyID> = []
  }

  private let access: Keychain.Access
  private let database: SQLiteDatabase
  private let keys: KeyRing
  private let state: Locked<State>

  init(access: Keychain.Access, database: SQLiteDatabase, keys: KeyRing) {
    self.access = access
    self.database = database
    self.keys = keys
    // A process that was killed may have owed it.
    state = Locked(State(isOwed: access != .readOnly))
  }

  var isOwed: Bool { state.withLock { $0.isOwed } }

  var retired: Set<KeyID> { state.withLock { $0.retired } }

  private func owe() { state.withLock { $0.isOwed = true } }

  /// To be forgotten when no reader can need them any more.
  func retire(_ ids: some Sequence<KeyID>) { state.withLock { $0.retired.formUnion(ids) } }

  /// - Returns: whether there is something to erase, by this commit or one before.
  func committed(owing owes: Bool) -> Bool {
    state.withLock { state in
      if owes { state.isOwed = true }
      return state.isOwed
    }
  }

  /// Does nothing when nothing was deleted and no secret changed. False when a reader holds the log: try
  /// again.
  func run() throws(KeychainError) -> Bool {
    guard access != .readOnly, isOwed else { return true }
    return try KeychainError.wrap("erasing deleted items") {
      // Asked for again by whoever deletes something from here on.
      let retired = state.withLock { state in
        state.isOwed = false
        return state.retired
      }
      do {
        if try database.checkpointTruncate() {
          // Nobody reads a state of the store any more that needs these keys.
          if !retired.isEmpty { keys.loaded.withLock { $0.forget(retired) } }
          state.withLock { $0.retired.subtract(retired) }
          return true
        }
      } catch {
        owe()
        throw error
      }
      owe()
      return false
    }
  }
}

/// What commits leave behind for later: the anchor, and the erasure of what was deleted.
extension Keychain {
  /// How long what is done last waits for other processes, in nanoseconds.
  private static let lastWait: UInt64 = 1_000_000_000

  /// Whether a call has left something for `tick` to do.
  package var owesUpkeep: Bool {
    guard access != .readOnly, !isClosed else { return false }
    return erasure.isOwed || anchor.isBehind && condition == .healthy
  }

  /// What is due from time to time: call it about once a second.
  package func tick() throws(KeychainError) { try tick(waiting: 0) }

  /// The same where there is no next time: it waits a little for other processes.
  package func lastTick() throws(KeychainError) { try tick(waiting: Self.lastWait) }

  private func tick(waiting limit: UInt64) throws(KeychainError) {
    guard access != .readOnly else { return }
    // What was deleted has to go, whatever becomes of the anchor.
    if condition == .healthy { anchor.flush(waiting: limit) }
    _ = try eraseDeletedPages()
    keepReserve()
  }

  /// Drives what was deleted out of the write-ahead log. False when a reader holds it: try again.
  package func eraseDeletedPages() throws(KeychainError) -> Bool { try erasure.run() }
}
