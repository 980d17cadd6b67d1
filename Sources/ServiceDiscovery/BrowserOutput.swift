// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Where a browser's thread reports to, and how other threads reach it.
final class BrowserOutput: Sendable {
  private let handler: @Sendable (ServiceUpdate) -> Void
  private let stopping = Atomic(false)
  private let refusals = Atomic(0)
  /// What was reported last, if it was `unavailable`.
  private let obstacle = Mutex<DiscoveryObstacle?>(nil)

  init(handler: @escaping @Sendable (ServiceUpdate) -> Void) {
    self.handler = handler
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }
  var refused: Int { refusals.load(ordering: .relaxed) }

  func stop() { stopping.store(true, ordering: .releasing) }

  func refuse(_ count: Int) { refusals.wrappingAdd(count, ordering: .relaxed) }

  /// Calls the handler, unless it has heard of the same obstacle last, or the browser was stopped.
  func report(_ update: ServiceUpdate) {
    let isNews = obstacle.withLock { last in
      guard case .unavailable(let present) = update else {
        last = nil
        return true
      }
      defer { last = present }
      return last != present
    }
    if isNews, !isStopping { handler(update) }
  }
}
