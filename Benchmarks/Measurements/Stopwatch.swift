import CBareSubscriber
import Foundation

/// How long something took by the clock, and how long this thread was at work: on a busy machine the one
/// is anything, the other one holds.
struct Stopwatch {
  /// Microseconds.
  let elapsed: Double
  let processor: Double

  init(elapsed: Double, processor: Double) {
    self.elapsed = elapsed
    self.processor = processor
  }

  /// Both times, each divided by the number of operations that `body` does.
  init(of operations: Int, _ body: () throws -> Void) rethrows {
    let (begin, worked) = (bare_now(), Self.worked())
    try body()
    elapsed = Double(bare_now() - begin) / 1e3 / Double(operations)
    processor = Double(Self.worked() - worked) / 1e3 / Double(operations)
  }

  private static func worked() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension [Stopwatch] {
  /// Median, in microseconds.
  var elapsed: Double { map(\.elapsed).median }
  var processor: Double { map(\.processor).median }
}
