// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong with the settings, and where.
///
/// Its description is one line as compilers write it, so that editors can jump to it:
///
///     threadkeeper.yaml:3:9: error: mqtt.port: expected a whole number from 1 to 65535, found `abc`
///     THREADKEEPER_MQTT_PORT: error: mqtt.port: expected …
///
/// It never holds the value of a secret.
package struct SettingsProblem: Error, Sendable, Equatable {
  package enum Severity: String, Sendable {
    /// Works, but should be looked at.
    case warning
    /// The settings can't be used.
    case error
  }

  package enum Place: Sendable, Equatable {
    /// The file as a whole.
    case file(String)
    /// Line and column count from 1; columns are Unicode scalars.
    case position(file: String, line: Int, column: Int)
    /// An environment variable.
    case variable(String)
    /// No place a person wrote in: a default.
    case defaults
  }

  package let place: Place
  package let severity: Severity
  /// The full name of the key, `mqtt.port`, where the problem has one.
  package let key: String?
  package let message: String

  package init(place: Place, severity: Severity = .error, key: String?, message: String) {
    self.place = place
    self.severity = severity
    self.key = key
    self.message = message
  }
}

extension SettingsProblem {
  package var file: String? {
    switch place {
    case .file(let file), .position(let file, _, _): file
    case .variable, .defaults: nil
    }
  }

  package var line: Int? {
    if case .position(_, let line, _) = place { line } else { nil }
  }

  package var column: Int? {
    if case .position(_, _, let column) = place { column } else { nil }
  }

  package var variable: String? {
    if case .variable(let name) = place { name } else { nil }
  }
}

extension SettingsProblem: CustomStringConvertible {
  package var description: String {
    "\(place): \(severity.rawValue): \(message)"
  }
}

extension SettingsProblem.Place: CustomStringConvertible {
  package var description: String {
    switch self {
    case .file(let file): file
    case .position(let file, let line, let column): "\(file):\(line):\(column)"
    case .variable(let name): name
    case .defaults: "threadkeeper"
    }
  }
}

extension SettingsProblem: Comparable {
  /// In the order in which a person fixes them: down the file, then the variables.
  package static func < (left: SettingsProblem, right: SettingsProblem) -> Bool {
    left.rank < right.rank
  }

  private var rank: (Int, String, Int, Int, String) {
    switch place {
    case .file(let file): (0, file, 0, 0, message)
    case .position(let file, let line, let column): (1, file, line, column, message)
    case .variable(let name): (2, name, 0, 0, message)
    case .defaults: (3, "", 0, 0, message)
    }
  }
}

/// What came of loading: settings, unless a problem is an error, and all problems at once.
package struct SettingsResult: Sendable {
  /// Nil when at least one problem is an error.
  package let settings: Settings?
  /// In the order of the file, then of the variables.
  package let problems: [SettingsProblem]
  /// The configuration file that was read; nil when there is none and defaults hold.
  package let file: String?
  /// Whether this user may not read that file, or one of a secret.
  package let isRefused: Bool

  package init(
    settings: Settings?, problems: [SettingsProblem], file: String?, isRefused: Bool = false
  ) {
    self.isRefused = isRefused
    self.settings = settings
    self.problems = problems
    self.file = file
  }
}
