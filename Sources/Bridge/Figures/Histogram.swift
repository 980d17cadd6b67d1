import Synchronization

/// How often a value lay where.
package final class Histogram: Sendable {
  package struct Snapshot: Sendable, Equatable {
    /// Upper bounds, which belong to their buckets, ascending.
    package var bounds: [Double]
    /// One more than bounds: the last is what lies above all.
    package var counts: [UInt64]
    package var sum: Double
  }

  private let state: Mutex<Snapshot>

  /// - Parameter bounds: ascending.
  init(_ bounds: [Double]) {
    state = Mutex(Snapshot(bounds: bounds, counts: [UInt64](repeating: 0, count: bounds.count + 1), sum: 0))
  }

  package var snapshot: Snapshot { state.withLock { $0 } }

  func add(_ value: Double) {
    state.withLock {
      let bucket = $0.bounds.firstIndex { value <= $0 } ?? $0.bounds.count
      $0.counts[bucket] += 1
      $0.sum += value
    }
  }

  func add(_ duration: Duration) { add(duration / .seconds(1)) }
}
