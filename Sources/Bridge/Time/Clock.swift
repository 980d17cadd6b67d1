import Broker
import Glibc
import Home

/// Time is an input: it comes from here, and tests turn it by hand.
package protocol Clock: Sendable {
  func now() -> WireTime

  /// The same, beside a clock that nobody sets.
  func moment() -> ClockMoment
}

/// One moment on two clocks.
package struct ClockMoment: Sendable {
  package let wall: WireTime
  /// Milliseconds since any beginning. A machine that sleeps stops them.
  package let steady: Int64

  package init(wall: WireTime, steady: Int64) {
    self.wall = wall
    self.steady = steady
  }
}

/// The machine's wall clock.
package struct SystemClock: Clock {
  package init() {}

  package func now() -> WireTime { WireTime(milliseconds: Self.milliseconds(CLOCK_REALTIME)) }

  package func moment() -> ClockMoment { ClockMoment(wall: now(), steady: Self.milliseconds(CLOCK_MONOTONIC)) }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

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

/// Notices that the daemon has come to rest after some work, when all that followed from it is published too: then the
/// memory that the work needed is given back, once.
///
///     more than `few` steps since the last tick   -> wait again
///     `ticks` ticks with few steps                -> rests, once
struct RestWatch {
  /// Of one second each. A pause between two bursts is mostly shorter, or much longer.
  static let ticks = 2
  /// Rows and publications: the signs of life of a home, and what the daemon notes about its own publications, are no
  /// work.
  static let few = 100

  private var steps: Int?
  private var quiet = 0

  /// - Parameter steps: rows that were changed, and publications, since the start.
  /// - Returns: whether this is the tick at which the memory is given back.
  mutating func tick(steps: Int) -> Bool {
    let isBusy = self.steps.map { steps - $0 > Self.few } ?? true
    self.steps = steps
    guard !isBusy else {
      quiet = 0
      return false
    }
    guard quiet < Self.ticks else { return false }
    quiet += 1
    return quiet == Self.ticks
  }
}
