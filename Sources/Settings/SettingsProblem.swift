/// One thing that is wrong with the settings, and where.
///
/// Its description is one line as compilers write it, so that editors can jump to it:
///
///     threadkeeper.yaml:3:9: error: mqtt.port: expected a whole number from 1 to 65535, found `abc`
///     THREADKEEPER_MQTT_PORT: error: mqtt.port: expected …
///
/// It never holds the value of a secret.
package struct SettingsProblem: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    /// Works, but should be looked at.
    case warning
    /// The settings can't be used.
    case error
  }

  package enum Place: Sendable, Equatable, CustomStringConvertible {
    /// A place in a file, or the whole.
    case file(String, TextPosition? = nil)
    /// An environment variable.
    case variable(String)
    /// No place a person wrote in: a default.
    case defaults

    package var description: String {
      switch self {
      case .file(let file, let position?): "\(file):\(position.line):\(position.column)"
      case .file(let name, nil), .variable(let name): name
      case .defaults: "threadkeeper"
      }
    }

    /// A place inside a file; a variable has none.
    func at(_ position: TextPosition?) -> Self {
      if case .file(let file, _) = self { .file(file, position) } else { self }
    }
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

  package var description: String { "\(place): \(severity.rawValue): \(message)" }
}

extension SettingsProblem {
  package var file: String? { if case .file(let file, _) = place { file } else { nil } }
  package var line: Int? { position?.line }
  package var column: Int? { position?.column }
  package var variable: String? { if case .variable(let name) = place { name } else { nil } }

  private var position: TextPosition? { if case .file(_, let position) = place { position } else { nil } }

  /// Problems are in the order in which a person fixes them: down the file, then the variables.
  var rank: (Int, String, Int, Int, String) {
    let kind = file == nil ? variable == nil ? 3 : 2 : position == nil ? 0 : 1
    return (kind, file ?? variable ?? "", line ?? 0, column ?? 0, message)
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

  package init(settings: Settings?, problems: [SettingsProblem], file: String?, isRefused: Bool = false) {
    self.isRefused = isRefused
    self.settings = settings
    self.problems = problems
    self.file = file
  }
}

extension SettingsProblem: Encodable {
  private enum CodingKeys: CodingKey { case file, variable, line, column, severity, key, message }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(file, forKey: .file)
    try container.encodeIfPresent(variable, forKey: .variable)
    try container.encodeIfPresent(line, forKey: .line)
    try container.encodeIfPresent(column, forKey: .column)
    try container.encode(severity.rawValue, forKey: .severity)
    try container.encodeIfPresent(key, forKey: .key)
    try container.encode(message, forKey: .message)
  }
}
