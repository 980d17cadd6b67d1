// SPDX-License-Identifier: Apache-2.0

/// The topics of a rule: `otbr/{router}/status`. A level is a text, `+` for any, or a name in braces for any whose text
/// can be used; `#` at the end is whatever follows.
///
/// Levels are compared byte by byte, as a broker does it: to Swift, a slash and an accent after it are one character.
package struct TopicFilter: Sendable, Hashable {
  enum Level: Sendable, Hashable {
    case text([UInt8])
    case any
    case part(String)
    case rest
  }

  /// As it is written.
  package let text: String
  let levels: [Level]

  /// - Throws: `IngestFlaw` with what is wrong.
  package init(_ text: String) throws(IngestFlaw) {
    guard (1...IngestLimits.topicBytes).contains(text.utf8.count) else {
      throw IngestFlaw("expected a topic of 1 to \(IngestLimits.topicBytes) bytes")
    }
    guard
      !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }),
      text.utf8.first != 0x20, text.utf8.last != 0x20
    else { throw IngestFlaw("a topic has no control character, and no space at its ends") }
    guard text.utf8.first != UInt8(ascii: "$") else {
      throw IngestFlaw("topics that begin with `$` are the broker's own")
    }
    let parts = Self.split(text)
    guard parts.count <= IngestLimits.topicLevels else {
      throw IngestFlaw("a topic has at most \(IngestLimits.topicLevels) levels")
    }
    var levels: [Level] = []
    for (index, part) in parts.enumerated() {
      let level = try Self.level(String(part), isLast: index == parts.count - 1)
      if case .part(let name) = level, levels.contains(level) {
        throw IngestFlaw("the topic has `{\(name)}` twice")
      }
      levels.append(level)
    }
    self.text = text
    self.levels = levels
  }

  private static func level(_ text: String, isLast: Bool) throws(IngestFlaw) -> Level {
    if text == "+" { return .any }
    if text == "#" {
      guard isLast else { throw IngestFlaw("`#` can only be the last level of a topic") }
      return .rest
    }
    guard !text.utf8.contains(where: { "+#".utf8.contains($0) }) else {
      throw IngestFlaw("`+` and `#` are whole levels of a topic")
    }
    guard text.utf8.contains(where: { "{}".utf8.contains($0) }) else {
      return .text(Array(text.utf8))
    }
    let name = String(text.dropFirst().dropLast())
    guard text.hasPrefix("{"), text.hasSuffix("}"), TextTemplate.isPartName(name) else {
      throw IngestFlaw(
        "a part such as `{router}` takes a whole level, and its name is 1 to 32 letters, digits or `_`"
      )
    }
    guard name != TextTemplate.payload else {
      throw IngestFlaw("`{payload}` stands for the payload; give the level another name")
    }
    return .part(name)
  }

  /// The names of the parts, in order.
  package var parts: [String] {
    levels.compactMap { if case .part(let name) = $0 { name } else { nil } }
  }

  /// As the broker understands it.
  package var subscription: String {
    levels.map { level in
      switch level {
      case .text(let bytes): String(decoding: bytes, as: UTF8.self)
      case .any, .part: "+"
      case .rest: "#"
      }
    }.joined(separator: "/")
  }

  /// The levels of a topic.
  static func split(_ topic: String) -> [Substring] {
    topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map(Substring.init)
  }

  /// The parts of a topic that matches; nil when it does not (MQTT 5.0, section 4.7).
  func match(_ topic: [Substring]) -> [String: String]? {
    var parts: [String: String] = [:]
    for (index, level) in levels.enumerated() {
      if level == .rest { return parts }
      guard index < topic.count else { return nil }
      switch level {
      case .text(let bytes): guard topic[index].utf8.elementsEqual(bytes) else { return nil }
      case .part(let name): parts[name] = String(topic[index])
      case .any, .rest: break
      }
    }
    return levels.count == topic.count ? parts : nil
  }

  /// Whether it names all topics that another filter names.
  package func covers(_ other: TopicFilter) -> Bool {
    for (index, level) in levels.enumerated() {
      if level == .rest { return true }
      guard index < other.levels.count else { return false }
      switch level {
      case .text: guard other.levels[index] == level else { return false }
      case .any, .part, .rest: guard other.levels[index] != .rest else { return false }
      }
    }
    return levels.count == other.levels.count
  }

  /// Whether it names any topic that is the base topic or lies below it.
  package func reaches(base: String) -> Bool {
    for (index, part) in Self.split(base).enumerated() {
      guard index < levels.count else { return false }
      switch levels[index] {
      case .rest: return true
      case .any, .part: break
      case .text(let bytes): guard part.utf8.elementsEqual(bytes) else { return false }
      }
    }
    return true
  }
}
