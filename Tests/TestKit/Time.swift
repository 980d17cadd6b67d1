import Bridge
import Home
import Synchronization

/// A condition that did not come true in time.
package struct TimedOut: Error, CustomStringConvertible { package var description: String }

/// Waits until a condition holds.
///
/// Time in which nobody looked does not count: where a thousand tests share two threads, a test may be
/// held up between two looks for longer than the limit. The longer it takes, the less often it looks: a look may run a
/// program, and what is waited for needs the processor, too.
///
/// - Parameter details: what helps to find out why.
/// - Throws: `TimedOut` with `what`, the time and the details, when it does not within the limit.
package func eventually(
  within limit: Duration = .seconds(60), _ what: String = "the condition", _ condition: () async throws -> Bool,
  otherwise details: () throws -> String = { "" }
) async throws {
  let longestPause = Duration.milliseconds(250)
  var waited = Duration.zero
  var looked = ContinuousClock.now
  while try await !condition() {
    guard waited < limit else { throw TimedOut(description: "\(what) did not hold within \(limit) \(try details())") }
    try await Task.sleep(for: max(.milliseconds(2), min(waited / 8, .milliseconds(25))))
    let now = ContinuousClock.now
    waited += min(now - looked, longestPause)
    looked = now
  }
}

/// A clock that moves only when a test sets it.
package final class ManualClock: Clock {
  private struct Time {
    var microseconds: Int64
    /// Since the beginning.
    var steady: Int64 = 0
  }

  private let time: Mutex<Time>

  /// - Parameter microseconds: since 1970; 2026-11-21T04:36:00Z by default.
  package init(microseconds: Int64 = 1_795_235_760_000_000) { time = Mutex(Time(microseconds: microseconds)) }

  package func now() -> WireTime { WireTime(milliseconds: microseconds / 1_000) }

  package func moment() -> ClockMoment {
    let time = time.withLock { $0 }
    return ClockMoment(wall: WireTime(milliseconds: time.microseconds / 1_000), steady: time.steady / 1_000)
  }

  package var microseconds: Int64 { time.withLock { $0.microseconds } }

  /// So much time passes: at least none.
  package func advance(seconds: Int) { advance(microseconds: Int64(seconds) * 1_000_000) }

  package func advance(microseconds: Int64) {
    precondition(microseconds >= 0, "`jump` sets the clock back")
    time.withLock {
      $0.microseconds += microseconds
      $0.steady += microseconds
    }
  }

  /// The clock is set, and no time passes.
  package func jump(seconds: Int) { time.withLock { $0.microseconds += Int64(seconds) * 1_000_000 } }
}
