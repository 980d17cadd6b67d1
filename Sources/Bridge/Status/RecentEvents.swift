// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Synchronization

/// What happened last, in sentences; it begins with the process.
package final class RecentEvents: Sendable {
  package struct Event: Sendable, Equatable {
    package var at: WireTime
    /// The level of the log: `info`, `warning`, …
    package var severity: String
    /// A sentence without its full stop.
    package var text: String
  }

  package static let kept = 40

  private let events = Mutex<[Event]>([])

  /// The newest first.
  package var newest: [Event] { events.withLock { $0.reversed() } }

  func add(_ more: [Event]) {
    guard !more.isEmpty else { return }
    events.withLock {
      $0 += more
      $0.removeFirst(max(0, $0.count - Self.kept))
    }
  }
}
