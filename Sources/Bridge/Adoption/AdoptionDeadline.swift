// SPDX-License-Identifier: Apache-2.0

import Broker

/// Until when a router's report is waited for.
enum AdoptionDeadline {
  /// Nothing is waited for longer than the current setting. So a clock that was set back does not make a
  /// router wait for hours, and a setting that was lowered leaves it the new time.
  static func limited(_ deadline: Int64, timeout: Int, now: WireTime) -> Int64 {
    min(deadline, now.adding(seconds: timeout).milliseconds)
  }

  /// Whether all that routers have published is received by now: the broker delivers at once what waited for a
  /// daemon that was away.
  ///
  /// - Parameter listeningSince: later than now where the clock was set back, until the next tick.
  static func isCaughtUp(since listeningSince: WireTime?, now: WireTime) -> Bool {
    guard let listeningSince else { return false }
    return abs(now.milliseconds - listeningSince.milliseconds) >= 10_000
  }
}
