/// The text of a configuration file in which single keys are set. Comments, the order and all other keys stay.
///
/// It knows the block style of `config/threadkeeper.yaml`, with each key on a line of its own. Load what comes of it with
/// `SettingsLoader.load(text:as:)` before it replaces a file: what was meant in another style may have become something else.
package struct SettingsText: Sendable, Equatable {
  package enum Value: Sendable, Equatable {
    /// In quotes where YAML needs them.
    case text(String)
    /// Never in quotes: a number, or a word such as `on` or `null`.
    case word(String)
    /// On one line.
    case list([String])
  }

  /// The key stands in a form that is not changed here, such as `mqtt: {host: broker.local}`.
  package struct UnknownForm: Error, Equatable {
    package let key: String
    /// From 1.
    package let line: Int
  }

  private var lines: [String]

  package var text: String { lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n" }

  package init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
  }

  /// Sets keys. Those that are added come in this order at the beginning of their section.
  ///
  /// - Throws: as the other one; some of the keys may be set then.
  package mutating func set(_ values: [(key: String, value: Value)]) throws {
    func section(_ key: String) -> Substring { key.prefix { $0 != "." } }
    var sections: [Substring] = []
    for (key, _) in values where !sections.contains(section(key)) { sections.append(section(key)) }
    for name in sections {
      for (key, value) in values.reversed() where section(key) == name { try set(key, to: value) }
    }
  }

  /// Sets a key, and adds it, with its sections, where it is missing.
  ///
  /// - Parameter key: its full name, such as `mqtt.tls.ca_file`.
  /// - Throws: `UnknownForm`; `YAMLFailure` where the text is not YAML.
  package mutating func set(_ key: String, to value: Value) throws {
    let names = key.split(separator: ".").map(String.init)
    var pairs = try Self.pairs(of: try YAMLNode.read(text))
    var section: YAMLNode?
    for (depth, name) in names.enumerated() {
      let found = pairs?.last { $0.key.name == name }
      guard let found else {
        try insert(names[depth...], value, into: section, pairs ?? [], key)
        return
      }
      try check(found.key, key)
      guard depth < names.count - 1 else {
        try replace(found.key, found.value, by: Self.rendered(value), key)
        return
      }
      section = found.key
      pairs = try Self.pairs(of: found.value)
      guard let pairs else { throw UnknownForm(key: key, line: found.key.position.line) }
      if pairs.isEmpty { try replace(found.key, found.value, by: "", key) }
    }
  }

  // MARK: Lines

  /// A key of block style is the first on its line. YAML knows more line ends than this text is split at.
  private func check(_ node: YAMLNode, _ key: String) throws(UnknownForm) {
    let unknown = UnknownForm(key: key, line: node.position.line)
    guard lines.indices.contains(node.position.line - 1), let name = node.name else { throw unknown }
    let line = lines[node.position.line - 1]
    let indent = line.prefix { $0 == " " }.count
    guard indent == node.position.column - 1, line.dropFirst(indent).hasPrefix("\(name):"),
      !line.utf8.contains(UInt8(ascii: "\r"))
    else { throw unknown }
  }

  private mutating func replace(_ name: YAMLNode, _ value: YAMLNode, by new: String, _ key: String) throws(UnknownForm)
  {
    let (number, line) = (name.position.line, lines[name.position.line - 1])
    let unknown = UnknownForm(key: key, line: number)
    guard let colon = line.firstIndex(of: ":"), value.position.line == number || value.isNull else { throw unknown }
    let rest = line[line.index(after: colon)...]
    guard let length = Self.length(of: rest) else { throw unknown }
    let comment = rest.dropFirst(length)
    lines[number - 1] = line[...colon] + (new.isEmpty ? "" : " \(new)") + comment
  }

  private mutating func insert(
    _ names: ArraySlice<String>, _ value: Value, into section: YAMLNode?,
    _ siblings: [(key: YAMLNode, value: YAMLNode)], _ key: String
  ) throws(UnknownForm) {
    var indent = section.map { $0.position.column + 1 } ?? 0
    if let sibling = siblings.first {
      try check(sibling.key, key)
      indent = sibling.key.position.column - 1
    }
    var new: [String] = []
    for (depth, name) in names.enumerated() {
      let isLast = depth == names.count - 1
      new.append(
        String(repeating: " ", count: indent + 2 * depth) + "\(name):" + (isLast ? " \(Self.rendered(value))" : ""))
    }
    lines.insert(contentsOf: new, at: section?.position.line ?? lines.count)
  }

  // MARK: YAML

  /// Nil for what is no mapping; empty for nothing at all.
  private static func pairs(of node: YAMLNode?) throws -> [(key: YAMLNode, value: YAMLNode)]? {
    guard let node, !node.isNull else { return [] }
    guard case .mapping(let pairs) = node.content else { return nil }
    return pairs
  }

  /// Characters of a value after its colon, without the space before a comment; nil for one that does not end on its line.
  private static func length(of rest: Substring) -> Int? {
    let start = rest.prefix { $0 == " " }.count
    let value = rest.dropFirst(start)
    guard let first = value.first, first != "#" else { return 0 }
    if first == "'" || first == "\"" {
      guard let end = value.dropFirst().firstIndex(of: first) else { return nil }
      let after = value.index(after: end)
      guard after == value.endIndex || value[after] == " " else { return nil }
      return start + value.distance(from: value.startIndex, to: after)
    }
    if first == "[" {
      guard let end = value.firstIndex(of: "]"), !value[..<end].contains(where: { "'\"#".contains($0) }) else {
        return nil
      }
      let after = value.index(after: end)
      guard after == value.endIndex || value[after] == " " else { return nil }
      return start + value.distance(from: value.startIndex, to: after)
    }
    guard !"|>&*".contains(first), first != "{" || value.hasPrefix("{}") else { return nil }
    let end = value.firstRange(of: " #")?.lowerBound ?? value.endIndex
    var plain = value[..<end]
    while plain.last == " " { plain.removeLast() }
    return start + plain.count
  }

  private static func rendered(_ value: Value) -> String {
    switch value {
    case .word(let word): word
    case .list(let texts): "[\(texts.map { rendered(.text($0)) }.joined(separator: ", "))]"
    case .text(let text): isSafe(text) ? text : "'" + text.replacing("'", with: "''") + "'"
    }
  }

  /// Whether YAML takes it for nothing but text: a name, a path, or an IPv4 address.
  private static func isSafe(_ text: String) -> Bool {
    let bytes = text.utf8
    guard let first = bytes.first, bytes.allSatisfy({ ASCII.isNameByte($0) || $0 == UInt8(ascii: "/") }) else {
      return false
    }
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
    let isName = first | 0x20 >= UInt8(ascii: "a") && first | 0x20 <= UInt8(ascii: "z")
    return isName && !words.contains(text.lowercased()) || first == UInt8(ascii: "/") || HostName.isAddress(text)
  }
}
