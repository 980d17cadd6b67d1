// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// One thing that `doctor` has looked at, and what a person can do about it.
struct Finding: Encodable, Equatable, Sendable {
  enum Result: String, Encodable, CaseIterable {
    case ok, note, warning, problem
    /// Nothing is known, and the text says why.
    case notChecked = "not_checked"
  }

  /// In the order in which they are shown.
  enum Part: String, Encodable, CaseIterable {
    case settings, daemon, broker, access, store, system
  }

  let part: Part
  /// The name of the check: stable, scripts read it.
  let check: String
  let result: Result
  let text: String
  let remedy: String?
  /// How the command ends, where this is the first problem.
  let status: ExitStatus

  private enum CodingKeys: CodingKey { case part, check, result, text, remedy }
}

/// A check by its name, which makes its findings.
struct Check {
  let part: Finding.Part
  let name: String

  init(_ part: Finding.Part, _ name: String) {
    self.part = part
    self.name = name
  }

  func ok(_ text: String) -> Finding { make(.ok, text, nil) }

  func note(_ text: String, _ remedy: String? = nil) -> Finding { make(.note, text, remedy) }

  func warning(_ text: String, _ remedy: String) -> Finding { make(.warning, text, remedy) }

  func problem(
    _ text: String, _ remedy: String, _ status: ExitStatus = .configuration
  ) -> Finding {
    make(.problem, text, remedy, status)
  }

  func notChecked(_ text: String, _ remedy: String? = nil) -> Finding {
    make(.notChecked, text, remedy)
  }

  private func make(
    _ result: Finding.Result, _ text: String, _ remedy: String?,
    _ status: ExitStatus = .configuration
  ) -> Finding {
    Finding(
      part: part, check: name, result: result, text: Self.ended(text),
      remedy: remedy.map(Self.ended), status: status)
  }

  /// Messages of other parts begin in lower case and have no full stop.
  static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  private static func ended(_ text: String) -> String {
    text.last.map { ".?!".contains($0) } == true ? text : text + "."
  }
}
