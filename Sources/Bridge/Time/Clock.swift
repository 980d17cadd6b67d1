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
