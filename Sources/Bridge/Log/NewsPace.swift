// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

/// How many lines may be logged about each matter of messages: a number in each period, however many batches there
/// are. A pure value.
struct NewsPace {
  static let periodMilliseconds: Int64 = 10_000

  private struct Period {
    var end: Int64 = .min
    var left = 0
    /// Lines that were not written, and that no line has counted yet.
    var skipped = 0
  }

  private var periods: [BatchNews.Matter: Period] = [:]

  /// - Parameters:
  ///   - wanted: lines that there are.
  ///   - more: lines that the batch has left out already.
  /// - Returns: how many of them may be written now, and the number of those that were not, where it is time to log
  ///   that.
  mutating func take(
    _ wanted: Int, of matter: BatchNews.Matter, beside more: Int, at now: WireTime
  ) -> (lines: Int, skipped: Int) {
    var period = periods[matter] ?? Period()
    defer { periods[matter] = period }
    // A clock that was set back must not silence the log.
    if now.milliseconds >= period.end || period.end - now.milliseconds > Self.periodMilliseconds {
      period.end = now.milliseconds + Self.periodMilliseconds
      period.left = matter.lines
    }
    let lines = min(period.left, wanted)
    period.left -= lines
    period.skipped += wanted - lines + more
    guard lines > 0 else { return (0, 0) }
    defer { period.skipped = 0 }
    return (lines, period.skipped)
  }
}
