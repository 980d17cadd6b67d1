// SPDX-License-Identifier: Apache-2.0

/// What an access list in Mosquitto's form allows. A pure value.
///
/// As Mosquitto (2.0.11) does: a `deny` line of the user wins, then come the user's other lines, then the patterns, and
/// what no line allows is denied.
package struct AccessRules: Sendable {
  package enum Access: Sendable { case read, write }

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

  /// The lines of a user that let it read or write one of the topics.
  package func lines(of user: String, reaching topics: [String]) -> [String] {
    (users[user] ?? []).filter { rule in
      !rule.isDenial && topics.contains { Self.matches(rule.filter, $0) }
    }.map { "topic \($0.text)" }
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

/// What an access list lacks for threadkeeper: whether its login may do what it needs, and who may do what only a router
/// or threadkeeper should.
package struct AccessGaps: Sendable, Equatable {
  /// Whether the daemon's login may use all its topics, and each router its own.
  package var lacksLines: Bool
  /// Logins that can speak for a router or read what is another's; nil among them: clients without a login. Not those
  /// that only a `pattern` line for everybody lets.
  package var intruders: [String?]
  /// A client whose name stands in no list can: a `pattern` line, or no list at all.
  package var isOpenToAll: Bool

  /// A user that nobody is.
  private static let nobody = "threadkeeper-probe"

  /// - Parameters:
  ///   - rules: of the list that is there.
  ///   - wanted: what threadkeeper needs.
  ///   - logins: those that the broker knows.
  ///   - allowsAnonymous: whether clients without a login get in.
  package init(
    _ rules: AccessRules, for wanted: AccessList, logins: [String], allowsAnonymous: Bool
  ) {
    let needed = Self.needed(wanted)
    lacksLines = wanted.daemons.contains { daemon in
      !needed.allSatisfy { rules.allows(daemon, $0.access, $0.topic) }
    }
    let bases = wanted.baseTopics
    let topics = bases.flatMap(Self.ofOthers)
    func intrudes(_ user: String?, byPatterns: Bool) -> Bool {
      topics.contains { topic in
        rules.allows(user, .write, topic, byPatterns: byPatterns)
          || rules.allows(user, .read, topic, byPatterns: byPatterns)
      }
    }
    let candidates = Set(logins + rules.named).subtracting(wanted.daemons).sorted()
    // Its own name is not the one that is tried.
    let isOpen = intrudes("\(Self.nobody)-2", byPatterns: true)
    isOpenToAll = isOpen
    intruders =
      (allowsAnonymous && intrudes(nil, byPatterns: !isOpen) ? [nil] : [])
      + candidates.filter { intrudes($0, byPatterns: !isOpen) }
    if bases.contains(where: {
      !rules.allows(Self.nobody, .write, "\($0)/in/\(Self.nobody)/announce")
        || !rules.allows(Self.nobody, .read, "\($0)/out/\(Self.nobody)/response/ping")
    }) {
      lacksLines = true
    }
  }

  /// Topics of a router that nobody is: another's, to every login.
  package static func ofOthers(below base: String) -> [String] {
    ["\(base)/in/\(nobody)/announce", "\(base)/out/\(nobody)/response/ping"]
  }

  private static func needed(
    _ wanted: AccessList
  ) -> [(access: AccessRules.Access, topic: String)] {
    var needed: [(access: AccessRules.Access, topic: String)] = [
      (.write, "\(wanted.discoveryPrefix)/device/threadkeeper/\(nobody)/config"),
      (.read, "\(wanted.discoveryPrefix)/device/threadkeeper/\(nobody)/config"),
      (.read, "\(wanted.discoveryPrefix)/status"), (.read, "$SYS/broker/version"),
    ]
    for base in wanted.baseTopics {
      for group in ["alert", "bridge", "network", "router", "out"] {
        needed.append((.write, "\(base)/\(group)/\(nobody)"))
      }
      needed += [(.read, "\(base)/in/\(nobody)/announce"), (.read, "\(base)/bridge/state")]
    }
    return needed
  }
}
