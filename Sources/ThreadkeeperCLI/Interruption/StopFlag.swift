// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether a task that waits for a thread was cancelled.
final class StopFlag: Sendable {
  private struct State {
    var isUp = false
    var whenRaised: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isUp: Bool { state.withLock { $0.isUp } }

  func raise() {
    let body = state.withLock { state in
      state.isUp = true
      return state.whenRaised
    }
    body?()
  }

  /// Runs `body`, and meanwhile calls `end` when the flag goes up, or at once if it is.
  func ending<R>(by end: @escaping @Sendable () -> Void, _ body: () throws -> R) rethrows -> R {
    let isUp = state.withLock { state in
      state.whenRaised = end
      return state.isUp
    }
    if isUp { end() }
    defer { state.withLock { $0.whenRaised = nil } }
    return try body()
  }
}
