/// Something that a list should allow and does not, or that it allows and should not.
package struct AccessGap: Sendable, Hashable {
  package enum Who: Sendable, Hashable {
    case login(String)
    case withoutLogin
    /// Every login: by lines `pattern`, or where there is no list.
    case everybody

    package var login: String? { if case .login(let name) = self { name } else { nil } }

    /// For a person.
    package var name: String {
      switch self {
      case .login(let name): "the login `\(name)`"
      case .withoutLogin: "a client without a login"
      case .everybody: "every login"
      }
    }
  }

  package let who: Who
  package let access: AccessRules.Access
  /// One of `AccessList.samples`. What is allowed too much stands for others' topics below the same `in` or `out`.
  package let topic: String
  /// Whether it is allowed, and should not be.
  package let isExcess: Bool

  package init(_ who: Who, _ access: AccessRules.Access, _ topic: String, isExcess: Bool) {
    self.who = who
    self.access = access
    self.topic = topic
    self.isExcess = isExcess
  }

  /// For a person: a part of a sentence for each who lacks something, and for each who may do too much.
  package static func words(_ gaps: [AccessGap]) -> [String] {
    var groups: [[AccessGap]] = []
    for gap in gaps {
      if let index = groups.firstIndex(where: { $0[0].who == gap.who && $0[0].isExcess == gap.isExcess }) {
        groups[index].append(gap)
      } else {
        groups.append([gap])
      }
    }
    return groups.map { group in
      let clauses = group[0].isExcess ? group.map(\.consequence) : denials(group)
      let isLacking = group[0].who == .everybody && !group[0].isExcess
      let name = isLacking ? "a border router's login" : group[0].who.name
      return "\(name) \(clauses.joined(separator: "; it "))"
    }
  }

  /// Whether it is about what the daemon publishes for everybody who may look.
  package var isOfStates: Bool { !shown.hasSuffix("/in/…") && !shown.hasSuffix("/out/…") }

  /// What comes of it that this is allowed, of a topic below `in` or `out` of somebody else.
  package var consequence: String {
    if isOfStates { return "writes to `\(shown.dropLast())`, so it can alter what threadkeeper publishes" }
    let place = "`\(shown.dropLast())` of others"
    return switch (access, shown.hasSuffix("/in/…")) {
    case (.read, true): "reads \(place), where routers publish network keys"
    case (.read, false): "reads \(place), where network keys are sent"
    case (.write, true): "writes to \(place), so it speaks for any router"
    case (.write, false): "writes to \(place), so it answers any router"
    }
  }

  private static func denials(_ gaps: [AccessGap]) -> [String] {
    let topics = Dictionary(grouping: gaps, by: \.shown).sorted { $0.key < $1.key }
    let verbs = Dictionary(grouping: topics) { $0.value.map(\.access.rawValue).sorted().joined(separator: " or ") }
    return verbs.sorted { $0.key < $1.key }.map { verb, topics in
      "may not \(verb) \(topics.map { "`\($0.key)`" }.joined(separator: ", "))"
    }
  }

  private var shown: String {
    topic.replacing("/\(ProbeTopic.nobody)/\(ProbeTopic.name)", with: "/…").replacing(ProbeTopic.nobody, with: "+")
  }
}

extension AccessList {
  /// A topic of each kind: what a list allows a login there, it allows on all of that kind.
  package func samples(of login: String) -> [String] {
    baseTopics.flatMap { base in
      let own = daemons.contains(login) ? [] : [ProbeTopic.Group.inbound, .outbound]
      return ProbeTopic.Group.allCases.map { ProbeTopic(base: base, group: $0).text }
        + own.map { ProbeTopic(base: base, group: $0, user: login).text }
        + (approvers.contains(login) ? decisions(of: login, below: base) : [])
    } + [birth, devices.replacing("+", with: ProbeTopic.nobody), "$SYS/broker/version"]
  }

  /// The requests of a login that decides.
  private func decisions(of login: String, below base: String) -> [String] {
    ["alerts/confirm", "alerts/test", "consent/approve", "consent/ask", "consent/deny", "preferred/set"].map {
      "\(base)/in/\(login)/request/\($0)"
    }
  }

  /// What it gives a login that it names, or everybody: of each kind of topic one. What a login decides that the
  /// settings name, and not the list, it decides by what everybody may.
  ///
  /// - Throws: `AccessListError` as `text` does.
  package func rights(of login: String) throws(AccessListError) -> [AccessGap] {
    var addition = self
    addition.isAddition = true
    let wanted = AccessRules(try addition.text())
    let isEverybody = login == ProbeTopic.nobody
    let isNamed = isEverybody || (daemons + monitors + approvers).contains(login)
    let given = (isNamed ? samples(of: login) : []).flatMap { topic in
      AccessRules.Access.allCases.filter { wanted.allows(login, $0, topic) }.map { ($0, topic) }
    }
    let decides = deciders.contains(login) && !approvers.contains(login)
    let decided = decides ? baseTopics.flatMap { decisions(of: login, below: $0) } : []
    return (given + decided.map { (.write, $0) }).map { access, topic in
      AccessGap(isEverybody ? .everybody : .login(login), access, topic, isExcess: false)
    }
  }

  /// What a list that is there lacks of this one, and what it allows of others' keys and names beyond it.
  ///
  /// - Parameters:
  ///   - logins: those that the broker knows.
  ///   - allowsAnonymous: whether clients without a login get in.
  /// - Throws: `AccessListError` as `text` does.
  package func gaps(in present: AccessRules, logins: [String], allowsAnonymous: Bool) throws(AccessListError)
    -> [AccessGap]
  {
    var gaps: [AccessGap] = []
    for login in daemons + monitors + approvers + deciders + [ProbeTopic.nobody] {
      gaps += try rights(of: login).filter { !present.allows(login, $0.access, $0.topic) }
    }
    gaps += excess(of: .everybody, in: present)
    let isOpen = gaps.contains { $0.isExcess }
    if allowsAnonymous { gaps += excess(of: .withoutLogin, in: present, byPatterns: !isOpen) }
    for login in Set(logins + present.named).subtracting(daemons).sorted() {
      gaps += excess(of: .login(login), in: present, byPatterns: !isOpen)
    }
    var seen: Set<AccessGap> = []
    return gaps.filter { seen.insert($0).inserted }
  }

  /// One gap for `in` and one for `out` of each base topic, where somebody can read or write something of others; and
  /// one, with the lines for all of it, where somebody can write what the daemon publishes.
  private func excess(of who: AccessGap.Who, in present: AccessRules, byPatterns: Bool = true) -> [AccessGap] {
    func gaps(_ base: String, _ groups: [ProbeTopic.Group], _ access: [AccessRules.Access]) -> [AccessGap] {
      groups.flatMap { group in
        access.map { AccessGap(who, $0, ProbeTopic(base: base, group: group).text, isExcess: true) }
      }.filter { !lines(behind: $0, in: present, byPatterns: byPatterns).isEmpty }
    }
    return baseTopics.flatMap { base in
      gaps(base, [.outbound, .inbound], AccessRules.Access.allCases) + gaps(base, [.bridge], [.write])
    }
  }

  /// The lines of a list that allow too much.
  ///
  /// - Parameters:
  ///   - gap: with `isExcess`.
  ///   - byPatterns: whether lines `pattern` count, which are for every login.
  package func lines(behind gap: AccessGap, in present: AccessRules, byPatterns: Bool = true) -> [String] {
    // To every login all names are another's but one. Here it is the one that nobody has.
    let login = gap.who == .everybody ? ProbeTopic.nobody : gap.who.login
    let place = gap.topic.replacing("/\(ProbeTopic.nobody)/\(ProbeTopic.name)", with: "")
    let isOfUsers = place.hasSuffix("/in") || place.hasSuffix("/out")
    let base = place.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    var filters = isOfUsers ? ["\(place)/+/+/#"] : Self.published.map { "\(base)/\($0)/#" }
    // Whoever decides may be let in where decisions are sent: those in others' names are refused.
    if let login, place.hasSuffix("/in"), (approvers + deciders).contains(login) {
      filters = othersEvents(login, below: String(place.dropLast("/in".count)))
    }
    var seen: Set<String> = []
    return filters.flatMap {
      present.lines(
        giving: login, gap.access, $0, but: isOfUsers ? login.map { ["\(place)/\($0)/#"] } ?? [] : [],
        byPatterns: byPatterns)
    }.filter { seen.insert($0).inserted }
  }
}
