// SPDX-License-Identifier: Apache-2.0

import Broker

/// Notices that the wall clock was set, or that the machine slept. A pure value.
///
/// What waits for a time compares it with the wall clock: set back by a year, it would wait for a year, and set forward,
/// every wait would be over. When the clock jumps, `Ticker` therefore resets the deadlines of this process, and
/// `TickApplier` shifts the start times in the store. What paces publications looks for a clock that was set back by
/// itself.
struct ClockJumps: Sendable {
  /// Milliseconds. What is less is how time servers correct a clock, and no wait is that short.
  static let least: Int64 = 2_000

  private var last: ClockMoment
  /// Milliseconds by which the start times in the store are still to be shifted; nil: they are. At the start only those
  /// later than now are changed: the daemon was away when the clock was set.
  private(set) var pendingShift: Int64? = 0

  init(since last: ClockMoment) { self.last = last }

  /// - Returns: by how many milliseconds the clock has jumped since the call before; nil where it did not.
  mutating func notice(_ moment: ClockMoment) -> Int64? {
    let passed = moment.steady - last.steady
    let jump = moment.wall.milliseconds - last.wall.milliseconds - passed
    last = moment
    guard abs(jump) >= Self.least else { return nil }
    pendingShift = (pendingShift ?? 0) + jump
    return jump
  }

  /// The start times in the store are shifted.
  mutating func shifted() { pendingShift = nil }
}
