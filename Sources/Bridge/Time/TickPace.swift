import Synchronization
import ThreadkeeperSupport

/// How long to wait for the next tick. A pure value.
///
/// | | the next tick comes |
/// |---|---|
/// | something happens, or has happened within the last ten ticks | after a second |
/// | at rest | when something is due in a home, after one to five seconds |
///
/// A home in which only heartbeats come is at rest. So the processor sleeps, and nothing looks at the files each second.
struct TickPace {
  static let least = Duration.seconds(1)
  private static let most = Duration.seconds(5)
  /// What follows from something is due within a few seconds: devices of Home Assistant are held back for five.
  private static let ticks = 10

  private let longest: Duration
  private var quiet = 0

  /// - Parameter watchdog: there are three ticks in that time, unless it is shorter than three seconds.
  init(watchdog: Duration? = nil) { longest = max(Self.least, min(Self.most, watchdog.map { $0 / 3 } ?? Self.most)) }

  /// - Parameters:
  ///   - hasNews: whether something has happened since the tick before.
  ///   - due: milliseconds until something is due in a home; nil: nothing is.
  mutating func next(hasNews: Bool, due: Int64?) -> Duration {
    quiet = hasNews ? 0 : min(quiet + 1, Self.ticks)
    guard quiet == Self.ticks else { return Self.least }
    return max(Self.least, min(longest, due.map { .milliseconds($0) } ?? longest))
  }
}

/// That something has happened, from which something may follow with the next tick: more than heartbeats without news.
final class Activity: Sendable {
  let signal = WakeSignal()
  private let hasNews = Atomic(false)
  private let wakes = Atomic(false)

  /// Costs nothing where the ticks come each second.
  func note() {
    hasNews.store(true, ordering: .sequentiallyConsistent)
    if wakes.load(ordering: .sequentiallyConsistent) { signal.raise() }
  }

  var isThere: Bool { hasNews.load(ordering: .sequentiallyConsistent) }

  /// - Returns: whether something has happened since the last call.
  func take() -> Bool { hasNews.exchange(false, ordering: .sequentiallyConsistent) }

  /// Whether `note` ends a wait. Look at `isThere` after it.
  func wakes(_ wakes: Bool) { self.wakes.store(wakes, ordering: .sequentiallyConsistent) }

  /// Returns after the time, or before, where it was woken.
  func wait(within limit: Duration) {
    // Without a descriptor nothing ends the wait.
    WakeSignal.wait(for: [signal], within: signal.descriptor < 0 ? min(limit, TickPace.least) : limit)
    signal.clear()
  }
}
