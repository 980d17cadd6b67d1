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

  /// - Parameter interval: in nanoseconds.
  init(_ anchor: Anchor, generation: UInt64, written: UInt64, interval: UInt64) {
    self.anchor = anchor
    self.interval = interval
    state = Locked(State(committed: generation, written: written))
  }

  /// Notes a commit, for the next write.
  func committed(_ generation: UInt64) {
    state.withLock { $0.committed = max($0.committed, generation) }
  }

  /// Writes what is not written yet, if the last write is an interval ago.
  func writeIfDue() throws(KeychainError) { try write(evenIfRecent: false) }

  /// Writes what is not written yet.
  func flush() throws(KeychainError) { try write(evenIfRecent: true) }

  private func write(evenIfRecent: Bool) throws(KeychainError) {
    // Under the lock, so that an older generation is never written after a newer one.
    try state.withLock { state throws(KeychainError) in
      guard state.committed > state.written else { return }
      let now = Self.now()
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

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
