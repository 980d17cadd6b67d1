extension AccessList {
  /// A part of a list that `text` writes, with the beginning of the comment above it.
  private enum Part: CaseIterable {
    case anonymous, daemon, kept, monitor, approver, everybody

    var comment: String {
      switch self {
      case .anonymous: anonymousComment
      case .daemon: daemonComment
      case .kept: keptComment
      case .monitor: monitorComment
      case .approver: approverComment
      case .everybody: everybodyComment
      }
    }
  }

  /// Takes over who is kept, sees and decides in a list that is there.
  ///
  /// - Returns: whether all of that list is threadkeeper's own, as `text` writes it. Else nothing is taken over: what
  ///   others wrote there would be lost if it were replaced.
  package mutating func takeRoles(ofOwn present: String) -> Bool {
    var own = self
    (own.kept, own.monitors, own.approvers, own.keptWrites) = ([], [], [], [])
    own.keepsAnonymous = false
    own.baseTopics = []
    var part: Part?
    var login: String?
    var sees = false
    var lines: [(access: String, filter: String)] = []
    for line in present.split(whereSeparator: \.isNewline).map({ Substring($0.trimmed) }) where !line.isEmpty {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      switch (words[0], part) {
      case (let word, _) where word.hasPrefix("#"):
        guard let next = Part.allCases.first(where: { line.hasPrefix($0.comment) }) else { continue }
        (part, login, sees) = (next, nil, line.contains(Self.seesComment))
        if next == .anonymous { own.keepsAnonymous = true }
      case ("user", .daemon), ("user", .kept), ("user", .monitor), ("user", .approver):
        guard login == nil else { return false }
        let name = String(line.dropFirst("user ".count).trimmed)
        login = name
        guard part == .kept, !daemons.contains(name) else { continue }
        own.add(name, to: \.kept)
        if sees { own.add(name, to: \.monitors) }
      case ("topic", .anonymous), ("topic", .daemon), ("topic", .kept), ("topic", .monitor), ("topic", .approver):
        guard words.count == 3, login != nil || part == .anonymous else { return false }
        lines.append((words[1], words[2]))
        guard let login, part != .daemon, !daemons.contains(login) else { continue }
        own.take(words[1], words[2], of: login, isKept: part == .kept)
      case ("pattern", .everybody):
        guard words.count == 3, let end = ["/in/%u/#", "/out/%u/#"].first(where: words[2].hasSuffix) else {
          return false
        }
        own.add(String(words[2].dropLast(end.count)), to: \.baseTopics)
      default: return false
      }
    }
    guard part == .everybody, lines.allSatisfy({ own.writes($0.access, $0.filter) }) else { return false }
    own.baseTopics = baseTopics
    own.approvers = own.approvers.filter(deciders.contains)
    if own.keptWrites == usualWrites { own.keptWrites = [] }
    self = own
    return true
  }

  /// Whether a line is one that `text` can write: a denial of other topics is somebody else's.
  private func writes(_ access: String, _ filter: String) -> Bool {
    baseTopics.contains { filter.hasPrefix("\($0)/") } || filter.hasSuffix("/device/threadkeeper/+/config")
      || access == "write" || access == "read" && (filter.hasSuffix("/status") || filter == Self.zigbee)
      || access != "deny" && ["#", "$SYS/#", "$SYS/broker/#"].contains(filter)
  }

  /// What a line of a login says about it.
  private mutating func take(_ access: String, _ filter: String, of login: String, isKept: Bool) {
    switch access {
    case "read" where filter.hasSuffix("/alert/#"): add(login, to: \.monitors)
    case "deny" where filter.hasSuffix("/request/+"): add(login, to: \.approvers)
    case "write" where isKept && filter != birth: add(filter, to: \.keptWrites)
    default: break
    }
  }

  package mutating func add(_ text: String, to list: WritableKeyPath<AccessList, [String]>) {
    if !self[keyPath: list].contains(text) { self[keyPath: list].append(text) }
  }
}
