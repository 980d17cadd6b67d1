import Synchronization

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
