// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Writes the anchor, about once in an interval: an fsync for each transaction would be too dear.
/// What was committed within the last interval can be rolled back unnoticed.
final class AnchorKeeper: Sendable {
  private struct State {
    var committed: UInt64
    var written: UInt64
    var lastWrite: UInt64 = 0
  }
  private let state: Locked<State>
  private let anchor: Anchor
  private let interval: UInt64
  /// Of a shared store: who writes the anchor holds this, or else it could go back.
  private let lockPath: String?

  /// - Parameter interval: in nanoseconds.
  init(
    _ anchor: Anchor, generation: UInt64, written: UInt64, interval: UInt64, lockPath: String?
  ) {
    self.anchor = anchor
    self.interval = interval
    self.lockPath = lockPath
    state = Locked(State(committed: generation, written: written))
  }

  /// Whether something is not written yet.
  var isBehind: Bool { state.withLock { $0.committed > $0.written } }

  /// Notes a commit, for the next write.
  func committed(_ generation: UInt64) {
    state.withLock { $0.committed = max($0.committed, generation) }
  }

  /// Writes what is not written yet, if the last write is an interval ago. The caller holds the lock
  /// of the store.
  func writeIfDue() throws(KeychainError) { try write(evenIfRecent: false) }

  /// Writes what is not written yet. In a shared store it takes the lock for that; while another has
  /// it for longer than `patience` (nanoseconds), it is left undone.
  func flush(patience: UInt64 = 0) throws(KeychainError) {
    guard isBehind else { return }
    guard let lockPath else { return try write(evenIfRecent: true) }
    let start = Keychain.now()
    while true {
      do {
        let lock = try StoreLock(lockPath)
        return try withExtendedLifetime(lock) { () throws(KeychainError) in
          try write(evenIfRecent: true)
        }
      } catch {
        guard error.lockHolder != nil else { throw error }
        guard Keychain.now() - start < patience else { return }
        usleep(2_000)
      }
    }
  }

  private func write(evenIfRecent: Bool) throws(KeychainError) {
    // Under the lock, so that an older generation is never written after a newer one.
    try state.withLock { state throws(KeychainError) in
      guard state.committed > state.written else { return }
      let now = Keychain.now()
      guard evenIfRecent || now >= state.lastWrite + interval else { return }
      state.lastWrite = now
      // Another process that shares the store may be ahead: the anchor never goes back.
      if case .generation(let written) = anchor.read(), written >= state.committed {
        state.written = written
        return
      }
      try anchor.write(state.committed)
      state.written = state.committed
    }
  }
}
