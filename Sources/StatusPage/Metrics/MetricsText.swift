// SPDX-License-Identifier: Apache-2.0

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
