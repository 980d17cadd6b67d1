// SPDX-License-Identifier: Apache-2.0

import StatePlaces

extension SettingsReader {
  /// An entry for text; a truth value is none, which is reported.
  mutating func textEntry(of key: SettingsKey) -> SettingsEntry? {
    guard let entry = entry(of: key) else { return nil }
    guard entry.kind != .plain || !["true", "false"].contains(entry.text.lowercased()) else {
      report(
        key, at: entry.place,
        "expected \(key.expectation), found a truth value; if it is meant as text, put it in quotes"
      )
      return nil
    }
    return entry
  }

  /// Text that passes the check; nil when there is none, or when it does not, which is reported.
  mutating func text(_ key: SettingsKey, where isFit: (String) -> Bool) -> String? {
    guard let entry = textEntry(of: key) else { return nil }
    guard isFit(entry.text) else {
      noteUnfit(entry, for: key)
      return nil
    }
    return entry.text
  }

  /// A whole number in decimal digits. Text in quotes is none, nor are `0x1F`, `1_000`, `012`.
  mutating func number(_ key: SettingsKey, in range: ClosedRange<Int>) -> Int? {
    guard let entry = entry(of: key) else { return nil }
    let digits = entry.text.utf8
    let isDecimal =
      digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && (digits.first != UInt8(ascii: "0") || digits.count == 1)
    guard entry.kind != .quoted, isDecimal, let number = Int(entry.text), range.contains(number)
    else {
      noteUnfit(entry, for: key)
      return nil
    }
    return number
  }

  /// `true` or `false`.
  mutating func truth(_ key: SettingsKey) -> Bool? {
    guard let entry = entry(of: key) else { return nil }
    guard entry.kind != .quoted, let value = Bool(entry.text) else {
      noteUnfit(entry, for: key)
      return nil
    }
    return value
  }

  /// One of a few words.
  mutating func choice<Value: RawRepresentable<String>>(_ key: SettingsKey, among values: [Value])
    -> Value?
  {
    guard let entry = entry(of: key) else { return nil }
    if let value = Value(rawValue: entry.text) { return value }
    let nearest =
      entry.isHidden
      ? nil : NearestName.nearest(to: entry.text, among: values.map(\.rawValue))
    noteUnfit(entry, for: key, hint: nearest.map { "; did you mean `\($0)`?" } ?? "")
    return nil
  }

  /// An absolute path.
  mutating func path(_ key: SettingsKey) -> String? {
    guard let entry = entry(of: key) else { return nil }
    guard !entry.text.isEmpty, !entry.text.contains("\0"), !entry.text.contains("\n") else {
      noteUnfit(entry, for: key)
      return nil
    }
    guard
      let path = FilePath.absolute(entry.text, in: entry.directory, home: environment["HOME"])
    else {
      noteUnfit(entry, for: key, hint: "; only `~/` is known, and it needs $HOME")
      return nil
    }
    return path
  }

  mutating func noteUnfit(_ entry: SettingsEntry, for key: SettingsKey, hint: String = "") {
    report(key, at: entry.place, "expected \(key.expectation), found \(entry.found)\(hint)")
  }

  /// Where the key's value was given.
  func place(of key: SettingsKey) -> SettingsProblem.Place {
    sources[key]?.place ?? .defaults
  }
}

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

/// What was written for a key, before the file that it may name has been read.
struct SettingsSource {
  enum Content {
    case text(String, SettingsEntry.Kind)
    /// `!secret NAME`: a file beside the configuration.
    case secret(name: String)
    /// `!credential NAME`: a file in systemd's credentials directory.
    case credential(name: String)
    /// A variable that ends in `_FILE`.
    case file(path: String)
  }

  let content: Content
  let place: SettingsProblem.Place
}
