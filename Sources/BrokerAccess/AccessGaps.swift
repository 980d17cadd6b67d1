// SPDX-License-Identifier: Apache-2.0

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
