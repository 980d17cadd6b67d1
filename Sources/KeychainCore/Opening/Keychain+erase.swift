// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension Keychain {
  /// Drives what was deleted out of the write-ahead log: the pages in the database are zeroed by
  /// `secure_delete`, but older ones lie in the log until it is cut. Does nothing when nothing was
  /// deleted and no secret changed. False when a reader holds the log: try again.
  package func eraseDeletedPages() throws(KeychainError) -> Bool {
    guard access != .readOnly, state.withLock({ $0.owesErasure }) else { return true }
    return try KeychainError.wrap("erasing deleted items") {
      // Asked for again by whoever deletes something from here on.
      let retired = state.withLock { state in
        state.owesErasure = false
        return state.ring.retired
      }
      do {
        if try database.checkpointTruncate() {
          // Nobody reads a state of the store any more that needs these keys.
          state.withLock { state in
            state.ring.forget(retired)
            state.isErasureLate = false
          }
          return true
        }
      } catch {
        state.withLock { $0.owesErasure = true }
        throw error
      }
      state.withLock { state in
        state.owesErasure = true
        state.isErasureLate = true
      }
      return false
    }
  }

  /// Whether a call does it that does not ask for it: what is late does not wait for the next tick.
  var erasesByItself: Bool {
    switch options.upkeep {
    case .immediate: true
    case .gathered: state.withLock { $0.isErasureLate }
    case .deferred: false
    }
  }

  /// Whether a call has left something for `tick` to do.
  package var owesUpkeep: Bool {
    guard access != .readOnly else { return false }
    let (owesErasure, isHealthy) = state.withLock { state in
      (state.owesErasure && !state.isClosed, !state.isClosed && state.condition == .healthy)
    }
    return owesErasure || isHealthy && anchor.isBehind
  }

  /// What is due from time to time: call it about once a second.
  package func tick() throws(KeychainError) { try tick(patience: 0) }

  /// The same where there is no next time: it waits a little for other processes.
  package func lastTick() throws(KeychainError) { try tick(patience: Self.patience) }

  private func tick(patience: UInt64) throws(KeychainError) {
    guard access != .readOnly else { return }
    if case .healthy = condition {
      // What was deleted has to go, whatever becomes of the anchor.
      flushAnchor(patience: patience)
    }
    _ = try eraseDeletedPages()
  }
}
