// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A store that several processes change: each takes the lock for a transaction, and looks whether
/// another has changed the keys since.
extension Keychain {
  /// Runs `body` on a snapshot.
  package func read<R>(
    _ body: (ReadTransaction) throws -> R
  ) throws(KeychainError) -> R {
    try KeychainError.wrap("reading") {
      defer {
        // What a reader held back when it was deleted may go now.
        if access == .shared, erasesByItself { _ = try? eraseDeletedPages() }
      }
      return try database.read { tx in
        if access == .shared { try catchUp(in: tx) }
        return try body(tx)
      }
    }
  }

  /// Runs `body` in one transaction, and in a shared store in its turn.
  ///
  /// - Throws: what `body` throws, and then nothing has changed; `notAvailable` when another process
  ///   holds a shared store for longer than `KeychainOptions.turnLimit`.
  package func write<R>(
    _ body: (WriteTransaction) throws -> R
  ) throws(KeychainError) -> R {
    try KeychainError.wrap("writing") {
      guard access == .shared else { return try database.write(body) }
      // For all that is waited for: other threads do not add their time to it.
      let start = Self.now()
      return try turn.withLock { _ in
        let lock = try lockInTurn(since: start)
        return try withExtendedLifetime(lock) {
          try database.write { tx in
            try catchUp(in: tx)
            try retireMissingKeys(in: tx)
            let result = try body(tx)
            // What this process has changed itself, it knows.
            let mark = try KeySetMark(in: tx)
            tx.onCommit("key set") { self.state.withLock { $0.knownKeys = mark } }
            return result
          }
        }
      }
    }
  }

  /// Whether the ways into the store have changed since it was opened, by another process: it must
  /// be opened again.
  package var isOutdated: Bool { state.withLock { $0.isOutdated } }

  /// Reads the keys again if others have changed them.
  private func catchUp(in tx: ReadTransaction) throws {
    let found = try KeySetMark(in: tx)
    let known = state.withLock { $0.knownKeys }
    guard found != known else { return }
    guard found.hasSameSlots(as: known) else {
      state.withLock { $0.isOutdated = true }
      throw KeychainError(
        .notAvailable, "the ways into the store were changed by another process: open it again",
        asksForReopening: true)
    }
    try loadKeys(in: tx)
    state.withLock { $0.knownKeys = found }
  }

  /// Others may have rotated keys away. Whoever holds the lock sees the newest state, so what is
  /// missing from that will not come back; readers may still be at an older one.
  private func retireMissingKeys(in tx: WriteTransaction) throws {
    let found = try KeySetMark(in: tx)
    state.withLock { state in
      let gone = state.ring.keys.keys.filter { !$0.purpose.isRoot && !found.contains($0) }
      guard !gone.isEmpty else { return }
      state.ring.retire(gone)
      state.owesErasure = true
    }
  }

  /// Waits until no other process has the lock. It is tried once, however long ago `start` is.
  private func lockInTurn(since start: UInt64) throws(KeychainError) -> StoreLock {
    var pause: UInt32 = 200
    while true {
      do {
        return try StoreLock(location.lockPath)
      } catch {
        guard error.lockHolder != nil, Self.now() - start < options.turnLimit else { throw error }
        usleep(pause)
        pause = min(pause * 2, 10_000)
      }
    }
  }

  static func monotonicSeconds() -> Int { Int(now() / 1_000_000_000) }

  /// Nanoseconds of the monotonic clock.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
