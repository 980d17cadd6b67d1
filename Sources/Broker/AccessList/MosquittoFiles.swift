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
    var filter: String
    /// The line, from `topic` or `pattern` on.
    let line: String

    /// - Parameter text: `read house/#`, or a filter alone for both; nil for what is neither.
    init?(_ word: String, _ text: Substring) {
      let words = text.split(separator: " ", maxSplits: 1)
      line = "\(word) \(text)"
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
      case "topic": if let rule = Rule("topic", rest) { users[user, default: []].append(rule) }
      case "pattern": if let rule = Rule("pattern", rest) { patterns.append(rule) }
      default: continue
      }
    }
  }

  /// Of a broker without a list.
  package static let everything = AccessRules(
    ["topic", "pattern"].map { "\($0) readwrite #\n\($0) read $SYS/#\n" }.joined())

  /// Users that have lines of their own.
  package var named: [String] { users.keys.compactMap { $0 }.sorted() }

  /// - Parameter user: nil: a client without a login.
  package func allows(_ user: String?, _ access: Access, _ topic: String) -> Bool {
    let rules = rules(of: user, byPatterns: true).filter { Self.covers($0.filter, topic) }
    return !rules.contains(where: \.isDenial) && rules.contains { $0.allows(access) }
  }

  /// The lines that deny a user a topic, whatever others allow.
  package func denials(of user: String, _ topic: String) -> [String] {
    (users[user] ?? []).filter { $0.isDenial && Self.covers($0.filter, topic) }.map(\.line)
  }

  /// The lines that let somebody read or write some topic of a filter.
  ///
  /// Where several denials only together leave nothing of the filter, the line counts all the same.
  ///
  /// - Parameters:
  ///   - user: nil: a client without a login.
  ///   - exceptions: filters of topics that do not count.
  ///   - byPatterns: whether the patterns count, which are for every user.
  package func lines(
    giving user: String?, _ access: Access, _ filter: String, but exceptions: [String] = [], byPatterns: Bool = true
  ) -> [String] {
    let rules = rules(of: user, byPatterns: byPatterns)
    let denials = rules.filter(\.isDenial).map(\.filter) + exceptions
    return rules.filter { rule in
      guard rule.allows(access), let common = Self.overlap(rule.filter, filter) else { return false }
      return !denials.contains { Self.covers($0, common) }
    }.map(\.line)
  }

  /// The user's own, and the patterns with the user's name in them.
  private func rules(of user: String?, byPatterns: Bool) -> [Rule] {
    let own = users[user] ?? []
    guard byPatterns else { return own }
    return own
      + patterns.compactMap { rule in
        guard !rule.isDenial, user != nil || !rule.filter.contains("%u") else { return nil }
        var rule = rule
        // A client may choose its id.
        rule.filter = Self.levels(rule.filter).map { $0 == "%u" ? user ?? "" : $0.contains("%c") ? "+" : String($0) }
          .joined(separator: "/")
        return rule
      }
  }

  private static func levels(_ filter: String) -> [Substring] {
    filter.split(separator: "/", omittingEmptySubsequences: false)
  }

  /// Whether a filter matches a topic, or all that another filter matches: MQTT 5.0, section 4.7.
  private static func covers(_ filter: String, _ topics: String) -> Bool {
    let (parts, levels) = (levels(filter), levels(topics))
    if topics.hasPrefix("$"), parts.first == "#" || parts.first == "+" { return false }
    for (number, part) in parts.enumerated() {
      if part == "#" { return true }
      guard number < levels.count, levels[number] != "#", part == "+" || part == levels[number] else { return false }
    }
    return parts.count == levels.count
  }

  /// The filter of the topics that match both; nil where none does.
  private static func overlap(_ one: String, _ other: String) -> String? {
    let (ones, others) = (levels(one), levels(other))
    var common: [Substring] = []
    for number in 0..<max(ones.count, others.count) {
      // `a/#` matches `a`, too.
      guard number < ones.count, number < others.count else {
        let further = number < ones.count ? ones[number] : others[number]
        return further == "#" ? common.joined(separator: "/") : nil
      }
      switch (ones[number], others[number]) {
      case ("#", _): return (common + others[number...]).joined(separator: "/")
      case (_, "#"): return (common + ones[number...]).joined(separator: "/")
      case (let level, "+"), ("+", let level): common.append(level)
      case (let level, let same) where level == same: common.append(level)
      default: return nil
      }
    }
    return common.joined(separator: "/")
  }
}

extension StringProtocol {
  /// Without spaces and tabs at its ends.
  var trimmed: SubSequence {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return self[startIndex..<startIndex]
    }
    return self[first...last]
  }
}

/// What Mosquitto's configuration says about who may connect, and what each may do. A pure value.
package struct MosquittoOptions: Sendable, Equatable {
  package private(set) var passwordFile: String?
  package private(set) var accessList: String?
  /// A plugin decides about logins or access, or each listener has files of its own (`per_listener_settings`): what is
  /// here is not all of it.
  package private(set) var isPartial = false
  package private(set) var isPersistent = false
  /// `max_queued_messages`; 1,000 by default.
  package private(set) var queueLimit = 1000
  /// `message_size_limit` or `max_packet_size`: no client gets a message of any size.
  package private(set) var limitsMessages = false
  /// Directories whose `.conf` files belong to it, in the order of the text.
  package private(set) var includes: [String] = []
  private var anonymous: Bool?
  private var hasListener = false
  private var ports: [UInt16] = []

  package init() {}

  // Lines that a broker for threadkeeper needs: docs/guides/broker.md has the reasons.
  package static let persistence = "persistence true"
  package static let queue = ["max_queued_messages 1000000", "max_queued_bytes 67108864"]
  package static let messageSize = "message_size_limit 1048576"

  /// Whether enough waits for a daemon that is away; 0 is no limit.
  package var keepsQueue: Bool { queueLimit == 0 || queueLimit >= 10_000 }

  /// Those of the lines that it lacks.
  package var missing: [String] {
    (isPersistent ? [] : [Self.persistence]) + (keepsQueue ? [] : Self.queue)
      + (limitsMessages ? [] : [Self.messageSize])
  }

  /// Since Mosquitto 2.0 a broker without a listener serves this machine alone, without logins.
  package var allowsAnonymous: Bool { anonymous ?? !hasListener }

  /// Whether a broker with these options is the one on a port. Without a listener it has the usual one.
  package func listens(on port: UInt16) -> Bool { hasListener ? ports.contains(port) : port == 1883 }

  /// Adds the lines of one file.
  package mutating func read(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let line = Substring(line.trimmed)
      guard !line.hasPrefix("#"), let space = line.firstIndex(where: { $0 == " " || $0 == "\t" }) else { continue }
      let value = String(line[space...].trimmed)
      switch line[..<space] {
      case "password_file": passwordFile = value
      case "acl_file": accessList = value
      case "allow_anonymous": anonymous = value == "true"
      case "per_listener_settings": isPartial = isPartial || value == "true"
      case "listener", "port":
        hasListener = true
        if let port = value.split(separator: " ").first.flatMap({ UInt16($0) }) { ports.append(port) }
      case "plugin", "auth_plugin", "global_plugin": isPartial = true
      case "persistence": isPersistent = value == "true"
      case "max_queued_messages": queueLimit = Int(value) ?? queueLimit
      case "message_size_limit", "max_packet_size": limitsMessages = limitsMessages || Int(value) ?? 0 > 0
      case "include_dir": includes.append(value)
      default: continue
      }
    }
  }

  /// The names in a password file.
  package static func logins(inPasswordFile text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
      return String(line[..<colon])
    }
  }
}
