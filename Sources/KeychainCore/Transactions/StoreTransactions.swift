// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reading and writing a store that several processes may change: each takes the lock for a
/// transaction, and looks whether another has changed the keys since. Of a store that is not shared,
/// these are the database's own transactions.
extension Keychain {
  /// What is known of other processes.
  struct Sharing {
    /// The keys that were there when they were last read.
    var known: KeySetMark
    /// Others changed the key slots.
    var isOutdated = false
  }

  /// Whether another process has changed the key slots since the store was opened: it must be opened again.
  package var isOutdated: Bool { sharing.withLock { $0.isOutdated } }

  /// Runs `body` on a snapshot.
  package func read<R>(_ body: (ReadTransaction) throws -> R) throws(KeychainError) -> R {
    try KeychainError.wrap("reading") {
      try database.read { tx in
        if access == .shared { try catchUp(in: tx) }
        return try body(tx)
      }
    }
  }

  /// Runs `body` in one transaction, and in a shared store in its turn.
  ///
  /// - Throws: what `body` throws, and then nothing has changed; `notAvailable` when another process
  ///   holds a shared store for longer than `KeychainOptions.turnLimit`.
  package func write<R>(_ body: (WriteTransaction) throws -> R) throws(KeychainError) -> R {
    try KeychainError.wrap("writing") {
      guard access == .shared else { return try database.write(body) }
      // For all that is waited for: other threads do not add their time to it.
      let start = MonotonicTime.nanoseconds()
      return try turn.withLock { _ in
        let lock = try lockInTurn(since: start)
        return try withExtendedLifetime(lock) {
          try database.write { tx in
            try catchUp(in: tx)
            let result = try body(tx)
            // What this process has changed itself, it knows.
            let mark = try KeySetMark(in: tx)
            tx.onCommit("key set") { [sharing] in sharing.withLock { $0.known = mark } }
            return result
          }
        }
      }
    }
  }

  /// Reads the keys again if others have changed them.
  private func catchUp(in tx: ReadTransaction) throws {
    let found = try KeySetMark(in: tx)
    let known = sharing.withLock { $0.known }
    guard found != known else { return }
    guard found.hasSameSlots(as: known) else {
      sharing.withLock { $0.isOutdated = true }
      throw KeychainError(
        .notAvailable, "the ways into the store were changed by another process: open it again",
        asksForReopening: true)
    }
    try keys.loadAll(in: tx)
    sharing.withLock { $0.known = found }
  }

  /// Waits until no other process has the lock. It is tried once, however long ago `start` is.
  private func lockInTurn(since start: UInt64) throws(KeychainError) -> StoreLock {
    var pause: UInt32 = 200
    while true {
      do {
        return try StoreLock(location.lockPath)
      } catch {
        guard error.lockHolder != nil, MonotonicTime.nanoseconds() - start < options.turnLimit else {
          throw error
        }
        usleep(pause)
        pause = min(pause * 2, 10_000)
      }
    }
  }
}

/// The clock for waiting times. It never goes back.
enum MonotonicTime {
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
