// SPDX-License-Identifier: Apache-2.0

/// The text given for a key, where it was given, and how much of it a problem may show.
struct SettingsEntry {
  enum Kind {
    /// A YAML scalar without quotes: may be a number.
    case plain
    /// A YAML scalar in quotes: text and nothing else.
    case quoted
    /// From a variable or a file, where nothing has a type.
    case untyped
  }

  let text: String
  let kind: Kind
  let place: SettingsProblem.Place
  /// True when the text came from a secret's file, or belongs to a secret key.
  let isHidden: Bool
  /// What relative paths are relative to.
  let directory: String

  /// The words after "found".
  var found: String {
    if isHidden { return "a value that is not shown" }
    return kind == .quoted ? "the text \(Self.shown(text))" : Self.shown(text)
  }

  /// Text for a message: on one line, not too long.
  static func shown(_ text: String, upTo limit: Int = 60) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(limit) {
      shown += scalar.escaped(asASCII: scalar.properties.generalCategory == .format)
    }
    return text.unicodeScalars.count > limit ? "`\(shown)…`" : "`\(shown)`"
  }

  /// A path is of use only whole. 4096 is the longest that Linux takes.
  static func shown(path: String) -> String {
    shown(path, upTo: 4_096)
  }
}
