// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets the intake go first: while full batches come in one after another, publications are given out
/// in small portions, and the rest follows when the burst is over.
final class PublicationPace: Sendable {
  private struct State {
    var isBurst = false
    var credit = 0
    var cameSinceLook = false
  }

  private static let share = 50

  private let fullBatch: Int
  private let portion: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - fullBatch: messages of a batch that is followed by another at once.
  ///   - portion: publications for each such batch; for a large one, one for each `share` messages.
  init(fullBatch: Int, portion: Int) {
    self.fullBatch = fullBatch
    self.portion = portion
  }

  func batchCommitted(messages: Int) {
    let portion = max(portion, messages / Self.share)
    state.withLock {
      $0.isBurst = messages >= fullBatch
      $0.cameSinceLook = true
      $0.credit = min($0.credit + portion, max($0.credit, 4 * portion))
    }
  }

  /// The burst is over if nothing came since the last look.
  func look() {
    state.withLock {
      if !$0.cameSinceLook { $0.isBurst = false }
      $0.cameSinceLook = false
    }
  }

  func allowed(_ limit: Int) -> Int {
    state.withLock {
      guard $0.isBurst else { return limit }
      let allowed = min(limit, $0.credit)
      $0.credit -= allowed
      return allowed
    }
  }
}
