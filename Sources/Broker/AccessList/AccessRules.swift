// SPDX-License-Identifier: Apache-2.0

/// What an access list in Mosquitto's form allows. A pure value.
///
/// As Mosquitto (2.0.11) does: a `deny` line of the user wins, then come the user's other lines, then the patterns, and
/// what no line allows is denied.
package struct AccessRules: Sendable {
  package enum Access: String, Sendable, CaseIterable { case read, write }

  private struct Rule {
    let isRead: Bool
    let isWrite: Bool
    let isDenial: Bool
    let filter: String
    /// What stands after `topic` or `pattern`.
    let text: String

    /// `read house/#`, or a filter alone for both; nil for what is neither.
    init?(_ text: Substring) {
      let words = text.split(separator: " ", maxSplits: 1)
      self.text = String(text)
      guard let first = words.first else { return nil }
      let known = ["read", "write", "readwrite", "deny"].contains(first) && words.count == 2
      let access = known ? first : "readwrite"
      isRead = access == "read" || access == "readwrite"
      isWrite = access == "write" || access == "readwrite"
      isDenial = access == "deny"
      filter = known ? String(words[1].trimmed) : String(text)
    }

    func allows(_ access: Access) -> Bool { access == .read ? isRead : isWrite }
  }

  /// By user; nil: clients without a login.
  private var users: [String?: [Rule]] = [:]
  private var patterns: [Rule] = []

  package init(_ text: String) {
    var user: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let line = Substring(line.trimmed)
      guard !line.hasPrefix("#"), let space = line.firstIndex(of: " ") else { continue }
      let rest = Substring(line[space...].trimmed)
      switch line[..<space] {
      case "user": user = String(rest)
      case "topic": if let rule = Rule(rest) { users[user, default: []].append(rule) }
      case "pattern": if let rule = Rule(rest) { patterns.append(rule) }
      default: continue
      }
    }
  }

  /// Of a broker without a list.
  package static let everything = AccessRules(
    ["topic", "pattern"].map { "\($0) readwrite #\n\($0) read $SYS/#\n" }.joined())

  /// Users that have lines of their own.
  package var named: [String] { users.keys.compactMap { $0 }.sorted() }

  /// - Parameters:
  ///   - user: nil: a client without a login.
  ///   - byPatterns: whether the patterns count, which are for every user.
  package func allows(
    _ user: String?, _ access: Access, _ topic: String, byPatterns: Bool = true
  ) -> Bool {
    let own = users[user] ?? []
    if own.contains(where: { $0.isDenial && Self.matches($0.filter, topic) }) { return false }
    if own.contains(where: { $0.allows(access) && Self.matches($0.filter, topic) }) { return true }
    return byPatterns
      && patterns.contains { rule in
        guard rule.allows(access), user != nil || !rule.filter.contains("%u") else { return false }
        // A client may choose its id.
        let filter = rule.filter.split(separator: "/", omittingEmptySubsequences: false).map {
          $0 == "%u" ? user ?? "" : $0.contains("%c") ? "+" : String($0)
        }
        return Self.matches(filter.joined(separator: "/"), topic)
      }
  }

  /// The lines that let somebody read or write one of the topics.
  package func lines(of who: AccessGap.Who, reaching topics: [String]) -> [String] {
    let (word, rules) =
      switch who {
      case .login(let name): ("topic", users[name] ?? [])
      case .withoutLogin: ("topic", users[nil] ?? [])
      case .everybody: ("pattern", patterns)
      }
    return rules.filter { rule in
      !rule.isDenial && topics.contains { Self.matches(rule.filter, $0) }
    }.map { "\(word) \($0.text)" }
  }

  /// MQTT 5.0, section 4.7.
  private static func matches(_ filter: String, _ topic: String) -> Bool {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    let parts = filter.split(separator: "/", omittingEmptySubsequences: false)
    if topic.hasPrefix("$"), parts.first == "#" || parts.first == "+" { return false }
    for (number, part) in parts.enumerated() {
      if part == "#" { return true }
      guard number < levels.count, part == "+" || part == levels[number] else { return false }
    }
    return parts.count == levels.count
  }
}

extension StringProtocol {
  /// Without spaces and tabs at its ends.
  var trimmed: SubSequence {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
    guard let first = firstIndex(where: { !isBlank($0) }),
      let last = lastIndex(where: { !isBlank($0) })
    else { return self[startIndex..<startIndex] }
    return self[first...last]
  }
}
