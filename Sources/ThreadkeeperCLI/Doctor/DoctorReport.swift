// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// What `doctor` answers.
struct DoctorReport: Encodable, Sendable {
  struct Counts: Encodable, Equatable, Sendable {
    var ok = 0
    var note = 0
    var warning = 0
    var problem = 0
    var notChecked = 0
  }

  let version = threadkeeperVersion
  /// Whether there is no problem.
  let healthy: Bool
  let counts: Counts
  /// By part.
  let findings: [Finding]

  init(_ findings: [Finding]) {
    self.findings = Finding.Part.allCases.flatMap { part in findings.filter { $0.part == part } }
    var counts = Counts()
    for finding in findings {
      switch finding.result {
      case .ok: counts.ok += 1
      case .note: counts.note += 1
      case .warning: counts.warning += 1
      case .problem: counts.problem += 1
      case .notChecked: counts.notChecked += 1
      }
    }
    self.counts = counts
    healthy = counts.problem == 0
  }

  private enum CodingKeys: CodingKey { case version, healthy, counts, findings }

  /// That of the first problem; nil without one.
  var status: ExitStatus? { findings.first { $0.result == .problem }?.status }

  /// Grouped by part; the problems again at the end, where a person looks first.
  ///
  /// - Parameters:
  ///   - width: columns of the terminal; nil: the lines are not wrapped.
  ///   - onlyProblems: whether all else is only counted.
  func text(style: TerminalStyle, width: Int?, onlyProblems: Bool = false) -> String {
    var text = ""
    for part in Finding.Part.allCases where !onlyProblems {
      let own = findings.filter { $0.part == part && $0.result != .problem }
      guard !own.isEmpty else { continue }
      text += style.bold(part.title) + "\n"
      for finding in own { text += finding.text(style: style, width: width) }
    }
    let problems = findings.filter { $0.result == .problem }
    if !problems.isEmpty {
      text += style.bold(problems.count == 1 ? "Problem" : "Problems") + "\n"
      for finding in problems { text += finding.text(style: style, width: width) }
    }
    return text + (onlyProblems ? "" : "\n") + summary + "\n"
  }

  private var summary: String {
    func count(_ number: Int, _ one: String, _ many: String) -> String? {
      number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
    let parts = [
      count(counts.problem, "problem", "problems"), count(counts.warning, "warning", "warnings"),
      count(counts.note, "note", "notes"),
      counts.notChecked == 0 ? nil : "\(counts.notChecked) not checked",
    ].compactMap { $0 }
    guard !parts.isEmpty else {
      return counts.ok == 1 ? "The only check is well." : "All \(counts.ok) checks are well."
    }
    return "\(healthy ? "No problem; " : "")\(parts.joined(separator: ", ")); \(counts.ok) well."
  }
}

extension Finding.Part {
  fileprivate var title: String {
    switch self {
    case .settings: "Settings"
    case .daemon: "Daemon"
    case .broker: "Broker"
    case .access: "Access at the broker"
    case .store: "Store"
    case .system: "System"
    }
  }
}

extension Finding {
  private static let indent = 15

  fileprivate func text(style: TerminalStyle, width: Int?) -> String {
    let label = label
    let shown =
      switch result {
      case .ok: style.green(label)
      case .problem: style.red(label)
      case .warning: style.bold(label)
      case .note, .notChecked: label
      }
    let gap = String(repeating: " ", count: Self.indent - 2 - label.count)
    var lines =
      "  \(shown)\(gap)"
      + TextWrap.paragraph(text.printable, indent: Self.indent, width: width) + "\n"
    if let remedy {
      lines +=
        String(repeating: " ", count: Self.indent) + style.bold("help:") + " "
        + TextWrap.paragraph(remedy.printable, indent: Self.indent + 6, width: width) + "\n"
    }
    return lines
  }

  private var label: String {
    switch result {
    case .notChecked: "not checked"
    default: result.rawValue
    }
  }
}
