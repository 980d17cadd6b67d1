// SPDX-License-Identifier: Apache-2.0

/// A figure for monitoring, with a sample for each set of labels.
package struct Metric: Sendable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  /// A value with its labels.
  package struct Sample: Sendable {
    /// What follows the metric's name: `_bucket`, or nothing.
    var suffix = ""
    package var labels: [(name: String, value: String)]
    package var value: Double

    package init(_ value: Double, _ labels: [(name: String, value: String)] = []) {
      self.value = value
      self.labels = labels
    }
  }

  /// Begins with `threadkeeper_`; a counter's ends in `_total`. Units are seconds and bytes.
  package let name: String
  /// One line.
  package let help: String
  package let kind: Kind
  package let samples: [Sample]

  package init(_ kind: Kind, _ name: String, _ help: String, _ samples: [Sample]) {
    self.kind = kind
    self.name = name
    self.help = help
    self.samples = samples
  }

  package init(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
    self.init(kind, name, help, [Sample(value)])
  }

  /// How often a value lay where, with its labels.
  package struct Distribution: Sendable {
    package var labels: [(name: String, value: String)]
    /// Upper bounds of the buckets, ascending; what is above the last has a bucket more.
    package var bounds: [Double]
    /// Of each bucket, one more than bounds.
    package var counts: [UInt64]
    /// Of all values.
    package var sum: Double

    package init(
      _ labels: [(name: String, value: String)] = [], bounds: [Double], counts: [UInt64],
      sum: Double
    ) {
      self.labels = labels
      self.bounds = bounds
      self.counts = counts
      self.sum = sum
    }

    fileprivate var samples: [Sample] {
      var samples: [Sample] = []
      var total: UInt64 = 0
      for (bound, count) in zip(bounds.map { MetricsText.number($0) } + ["+Inf"], counts) {
        total += count
        var sample = Sample(Double(total), labels + [("le", bound)])
        sample.suffix = "_bucket"
        samples.append(sample)
      }
      for (suffix, value) in [("_sum", sum), ("_count", Double(total))] {
        var sample = Sample(value, labels)
        sample.suffix = suffix
        samples.append(sample)
      }
      return samples
    }
  }

  package init(histogram name: String, _ help: String, _ distributions: [Distribution]) {
    self.init(.histogram, name, help, distributions.flatMap(\.samples))
  }
}
