/// The text format of Prometheus, version 0.0.4:
/// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
package enum MetricsText {
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package static func encode(_ metrics: [Metric]) -> String {
    var text = ""
    for metric in metrics where !metric.samples.isEmpty {
      text += "# HELP \(metric.name) \(escaped(metric.help, quoted: false))\n"
      text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      for sample in metric.samples {
        text += metric.name + sample.suffix
        if !sample.labels.isEmpty {
          let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value, quoted: true))\"" }
          text += "{\(labels.joined(separator: ","))}"
        }
        text += " \(number(sample.value))\n"
      }
    }
    return text
  }

  /// As Go reads it, and whole numbers without a fraction.
  static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    if value == -.infinity { return "-Inf" }
    if value.isNaN { return "NaN" }
    return Int64(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String, quoted: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quoted: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

/// A figure for monitoring, with a sample for each set of labels.
package struct Metric: Sendable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

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

    package init(_ labels: [(name: String, value: String)] = [], bounds: [Double], counts: [UInt64], sum: Double) {
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

  /// The same metrics of several parts of the process, each once, with a label that names the part.
  package static func joined(by label: String, _ parts: [(name: String, metrics: [Metric])]) -> [Metric] {
    guard let first = parts.first else { return [] }
    return first.metrics.indices.map { index in
      let metric = first.metrics[index]
      let samples = parts.flatMap { part in
        part.metrics[index].samples.map { sample in
          var sample = sample
          sample.labels.insert((label, part.name), at: 0)
          return sample
        }
      }
      return Metric(metric.kind, metric.name, metric.help, samples)
    }
  }
}

/// One value for all who ask for it at about the same time: however many they are, it is made once.
package actor SharedValue<Value: Sendable> {
  private let age: Duration
  private let make: @Sendable () async throws -> Value
  private var current: (made: ContinuousClock.Instant, task: Task<Value, any Error>)?

  /// - Parameter age: for which it is given out.
  package init(for age: Duration, _ make: @escaping @Sendable () async throws -> Value) {
    self.age = age
    self.make = make
  }

  package var value: Value {
    get async throws {
      if let current, current.made.duration(to: .now) < age { return try await current.task.value }
      let task = Task { [make] in try await make() }
      current = (.now, task)
      return try await task.value
    }
  }
}
