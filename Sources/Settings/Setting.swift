import Broker
import Home
import ThreadkeeperSupport

/// A row of the table: what a key is called, takes, defaults to and does, and where its value goes.
struct Setting: Sendable {
  enum Form: Sendable {
    case text
    /// Text that no problem shows.
    case secret
    /// A list or a mapping. In a variable it is YAML too: `{installer: [hub1, hub2]}`, `[anna]`.
    case structure
  }

  /// The full name, such as `mqtt.tls.ca_file`.
  let name: String
  let form: Form
  /// What a value has to be: the words after "expected".
  let expected: String
  /// The default as YAML; `null` for one that depends on something.
  let yaml: String
  /// The default in words, as Markdown.
  let standard: String
  /// What the setting does, and why one would change it, as Markdown. How its lines end means nothing.
  let help: String
  /// Puts what was given into the settings, or reports what is wrong with it.
  let read: @Sendable (inout SettingsReader, inout Settings) -> Void

  /// - Parameter words: the default in words, where it depends on something.
  init<Value>(
    _ name: String, _ kind: SettingKind<Value>, _ path: WritableKeyPath<Settings, Value> & Sendable,
    default words: String? = nil, _ help: String
  ) {
    let isWritten = words == nil || kind.form == .structure
    let yaml = isWritten ? kind.yaml(Settings(stateDirectory: "")[keyPath: path]) : "null"
    self.init(name, kind, yaml: yaml, default: words ?? "`\(yaml)`", help) { $0[keyPath: path] = $1 }
  }

  init<Value>(
    _ name: String, _ kind: SettingKind<Value>, _ path: WritableKeyPath<Settings, Value?> & Sendable,
    default words: String = "none", _ help: String
  ) { self.init(name, kind, default: words, help) { $0[keyPath: path] = $1 } }

  /// One whose value is no property by itself.
  init<Value>(
    _ name: String, _ kind: SettingKind<Value>, yaml: String = "null", default words: String, _ help: String,
    set: @escaping @Sendable (inout Settings, Value) -> Void
  ) {
    self.name = name
    form = kind.form
    expected = kind.expected
    self.yaml = yaml
    standard = words
    self.help = help
    read = { reader, settings in if let value = kind.read(&reader, name) { set(&settings, value) } }
  }

  /// `THREADKEEPER_MQTT_TLS_CA_FILE` for `mqtt.tls.ca_file`.
  var variable: String {
    SettingsReader.variablePrefix + name.uppercased().split(separator: ".").joined(separator: "_")
  }

  static let all = sections.flatMap(\.settings)
  static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The names directly below a section; `""` is the file itself. Empty where there is none.
  static func names(in section: String) -> [String] {
    let prefix = section.isEmpty ? "" : section + "."
    var names: [String] = []
    for setting in all where setting.name.hasPrefix(prefix) {
      let name = String(setting.name.dropFirst(prefix.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}

/// What the value of a setting has to be, and how it is read.
struct SettingKind<Value>: Sendable {
  let expected: String
  var form = Setting.Form.text
  var yaml: @Sendable (Value) -> String = { "\($0)" }
  /// The value that was given for a name; nil where there is none, or it is unfit, which is reported.
  let read: @Sendable (inout SettingsReader, _ name: String) -> Value?

  /// One value, not a list or a mapping.
  static func scalar(
    _ expected: String, form: Setting.Form = .text, yaml: @escaping @Sendable (Value) -> String = { "\($0)" },
    _ value: @escaping @Sendable (SettingsEntry) throws(UnfitValue) -> Value
  ) -> Self {
    Self(expected: expected, form: form, yaml: yaml) { reader, name in
      guard let entry = reader.given[name]?.entry else { return nil }
      do throws(UnfitValue) { return try value(entry) } catch {
        reader.report(name, at: entry.place, "expected \(expected), found \(error.found ?? entry.found)\(error.hint)")
        return nil
      }
    }
  }
}

/// A value is not what its setting takes.
struct UnfitValue: Error {
  /// The words after "found"; nil for the value itself.
  var found: String?
  /// What follows them.
  var hint = ""
}

extension SettingKind<String> {
  static func text(_ expected: String, where isFit: @escaping @Sendable (String) -> Bool) -> Self {
    scalar(expected) { entry throws(UnfitValue) in
      guard isFit(try entry.string()) else { throw UnfitValue() }
      return entry.text
    }
  }

  /// The daemon's login. A problem does not repeat it: names stand beside passwords in people's notes.
  static var userName: Self {
    scalar("1 to 256 characters, no control character, none of `/`, `+`, `#`") { entry throws(UnfitValue) in
      let text = try entry.string().unicodeScalars
      guard !text.isEmpty else { throw UnfitValue(found: "nothing") }
      guard text.count <= 256, !text.contains(where: ASCII.isControl) else {
        throw UnfitValue(found: "\(text.count) characters or a control character")
      }
      // One level of a topic in the access list, whose wildcards are the other two.
      if let unfit = text.first(where: { ["/", "+", "#"].contains($0) }) { throw UnfitValue(found: "a `\(unfit)`") }
      return entry.text
    }
  }

  /// An absolute path comes of it.
  static func path(_ expected: String) -> Self {
    scalar(expected) { entry throws(UnfitValue) in
      guard !entry.text.isEmpty, !entry.text.contains("\0"), !entry.text.contains("\n") else { throw UnfitValue() }
      guard let path = FilePath.absolute(entry.text, in: entry.directory, home: entry.home) else {
        throw UnfitValue(hint: "; only `~/` is known, and it needs $HOME")
      }
      return path
    }
  }

  /// A file that is there.
  ///
  /// - Parameter isPrivate: whether it is a mistake that every user of the machine may read it.
  static func file(isPrivate: Bool = false) -> Self {
    let path = path("the path of a file")
    return Self(expected: path.expected) { reader, name in
      guard let file = path.read(&reader, name) else { return nil }
      reader.checkFile(file, of: name, isPrivate: isPrivate)
      return file
    }
  }
}

extension SettingKind<SecretText> {
  static func secret(_ expected: String, where isFit: @escaping @Sendable (String) -> Bool) -> Self {
    scalar(expected, form: .secret) { entry throws(UnfitValue) in
      guard isFit(try entry.string()) else { throw UnfitValue() }
      return SecretText(entry.text)
    }
  }
}

extension SettingKind where Value: FixedWidthInteger & Sendable {
  /// Decimal digits. Text in quotes is no number, nor are `0x1F`, `1_000`, `012`.
  static func whole(_ range: ClosedRange<Value>, _ unit: String = "a whole number") -> Self {
    scalar("\(unit) from \(range.lowerBound) to \(range.upperBound)") { entry throws(UnfitValue) in
      guard entry.kind != .quoted, entry.text.utf8.allSatisfy(ASCII.isDigit),
        entry.text == "0" || !entry.text.hasPrefix("0"), let number = Value(entry.text), range.contains(number)
      else { throw UnfitValue() }
      return number
    }
  }

  static func seconds(_ range: ClosedRange<Value>) -> Self { whole(range, "whole seconds") }
}

extension SettingKind<Bool> {
  static var flag: Self {
    scalar("`true` or `false`") { entry throws(UnfitValue) in
      guard entry.kind != .quoted, let value = Bool(entry.text) else { throw UnfitValue() }
      return value
    }
  }
}

extension SettingKind where Value: CaseIterable & RawRepresentable<String> & Sendable {
  /// One of a few words. `on` and `off` are words to this reader and truth values to others: where they are among
  /// them, both spellings are taken.
  static var choice: Self {
    let words = Value.allCases.map(\.rawValue)
    let quoted = words.map { "`\($0)`" }
    let expected = quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
    return scalar(expected, yaml: { $0.rawValue }) { entry throws(UnfitValue) in
      let truth = entry.kind == .plain ? Bool(entry.text.lowercased()) : nil
      if let value = Value(rawValue: truth.map { $0 ? "on" : "off" } ?? entry.text) { return value }
      let nearest = entry.isHidden ? nil : NearestName.nearest(to: entry.text, among: words)
      throw UnfitValue(hint: nearest.map { "; did you mean `\($0)`?" } ?? "")
    }
  }
}

extension SettingKind<Settings.MQTT.Host> {
  static var broker: Self {
    scalar("`embedded`, a host name or an IP address", yaml: { _ in "embedded" }) { entry throws(UnfitValue) in
      let host = try entry.string()
      if host == "embedded" { return .embedded }
      if HostName.isFit(host) { return .named(host) }
      if host.contains("://") || host.contains("@") {
        // It may hold a password, so it is not repeated.
        throw UnfitValue(found: "a URL; user, password and port have keys of their own, TLS has `mqtt.tls`")
      }
      throw UnfitValue(hint: HostName.hasPort(host) ? "; the port goes to `mqtt.port`" : "")
    }
  }
}

extension SettingKind<Set<ExactName>> {
  static var logins: Self { .list("a list of user names") { Set($0.users($1, of: $2).map { ExactName($0) }) } }
}

extension SettingKind {
  static func list(
    _ expected: String, _ read: @escaping @Sendable (inout SettingsReader, SettingsNode, String) -> Value
  ) -> Self {
    Self(expected: expected, form: .structure, yaml: { _ in "[]" }) { reader, name in
      reader.given[name]?.node.map { read(&reader, $0, name) }
    }
  }

  static var command: SettingKind<[String]> {
    .list("a list of a program and its arguments") { reader, node, name in
      reader.texts(node, of: name, "a list of a program and its arguments", "text without a zero byte") {
        !$0.isEmpty && !$0.utf8.contains(0)
      }.map(\.text)
    }
  }

  static func mapping(
    _ expected: String, _ read: @escaping @Sendable (inout SettingsReader, SettingsReader.Pairs) -> Value
  ) -> Self {
    Self(expected: expected, form: .structure, yaml: { _ in "{}" }) { reader, name in
      guard let node = reader.given[name]?.node else { return nil }
      return reader.pairs(node, of: name, expected).map { read(&reader, $0) }
    }
  }
}
