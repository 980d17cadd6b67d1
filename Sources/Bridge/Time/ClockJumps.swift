import Broker
import Home

/// Notices that the wall clock was set, or that the machine slept. A pure value.
///
/// What waits for a time compares it with the wall clock: set back by a year, it would wait for a year, and set forward,
/// every wait would be over. When the clock jumps, the deadlines of this process are therefore reset, and the times in
/// the homes are shifted. What paces publications looks for a clock that was set back by itself.
struct ClockJumps: Sendable {
  /// Milliseconds. What is less is how time servers correct a clock, and no wait is that short.
  static let least: Int64 = 2_000

  private var last: ClockMoment
  /// Milliseconds by which the times in the homes are still to be shifted: a store that fails takes no jump; nil: they
  /// are. At the start only those later than now are changed: the daemon was away when the clock was set.
  private var owed: Int64? = 0

  init(since last: ClockMoment) { self.last = last }

  /// - Returns: by how many milliseconds the clock has jumped since the call before; nil where it did not.
  mutating func notice(_ moment: ClockMoment) -> Int64? {
    let passed = moment.steady - last.steady
    let jump = moment.wall.milliseconds - last.wall.milliseconds - passed
    last = moment
    guard abs(jump) >= Self.least else { return nil }
    owed = (owed ?? 0) + jump
    return jump
  }

  /// Where the homes take nothing, they are owed it still.
  mutating func handOver(to homes: (Int64) throws -> Void) rethrows {
    guard let owed else { return }
    try homes(owed)
    self.owed = nil
  }
}
