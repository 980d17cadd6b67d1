import Synchronization

/// What monitoring draws as distributions, since the start.
package struct BridgeFigures: Sendable {
  /// Of a transaction, from its beginning to the end of its COMMIT, in seconds.
  package let commit = Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5])
  /// Messages of one transaction of the intake.
  package let batch = Histogram([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000])
  /// From an event to the broker's acknowledgement of all that is published of it, in seconds.
  package let publish = Histogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300])
  /// Of a call of the local API, by its method, in seconds. What asks a person takes as long as that person.
  package let localCalls = HistogramFamily([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60])

  init() {}
}

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

/// A histogram for each value of one label. Whoever adds chooses the values among few: each is kept.
package final class HistogramFamily: Sendable {
  private let bounds: [Double]
  private let histograms = Mutex<[String: Histogram]>([:])

  /// - Parameter bounds: of all of them, ascending.
  init(_ bounds: [Double]) { self.bounds = bounds }

  /// Those that have something, by the label's value, in the order of the values.
  package var snapshots: [(label: String, histogram: Histogram.Snapshot)] {
    let all = histograms.withLock { $0 }
    return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.snapshot) }
  }

  package func add(_ duration: Duration, to label: String) {
    let histogram = histograms.withLock { histograms in
      if let found = histograms[label] { return found }
      let new = Histogram(bounds)
      histograms[label] = new
      return new
    }
    histogram.add(duration)
  }
}
