import Home
import Wire

/// Where a message came from and what it claims to be: `<base>/in/<user>/<kind>`.
///
/// The user is the broker's login. MQTT does not say who published, so the broker's
/// access list must let a login write below its own name only.
package struct InboundTopic: Hashable, Sendable {
  /// What a topic below `in/<user>/` stands for.
  package enum Purpose: Hashable, Sendable {
    case event(RouterMessage.Kind)
    /// `request/<command>`: a question to the daemon.
    case request(String)
    /// `probe`: whether it arrives is all that matters, see `ProbeTopic`.
    case probe
  }

  package let home: String
  package let user: String
  package let purpose: Purpose
}

extension InboundTopic {
  /// Reads the topic below the base topic of `home`.
  ///
  /// - Throws: `Rejection` with the code `invalid_topic` or `unknown_event`.
  package init(_ topic: Substring, belowBaseOf home: String) throws(Rejection) {
    let levels = Self.levels(topic)
    guard levels.count >= 3, levels[0] == "in", !levels[1].isEmpty else {
      throw Rejection(.invalidTopic, message: "expected in/<user>/<event>")
    }
    guard levels[1].utf8.count <= InboundLimits.userBytes else {
      throw Rejection(.invalidTopic, message: "a user's name has at most \(InboundLimits.userBytes) bytes here")
    }
    self.home = home
    self.user = String(levels[1])
    if levels[2] == "request", levels.count == 4, !levels[3].isEmpty {
      self.purpose = .request(String(levels[3]))
    } else if levels.count == 3, levels[2] == ProbeTopic.name {
      self.purpose = .probe
    } else if levels.count == 3, let kind = RouterMessage.Kind(word: String(levels[2])) {
      self.purpose = .event(kind)
    } else {
      throw Rejection(
        .unknownEvent,
        message: "expected one of " + RouterMessage.Kind.allCases.map(\.word.description).joined(separator: ", "))
    }
  }
  /// The login that wrote below `in/`, also where the rest of the topic is wrong: the second level, at most
  /// `InboundLimits.userBytes` bytes of it; empty where there is none.
  package static func publisher(of topic: Substring) -> String {
    let levels = levels(topic)
    guard levels.count > 1 else { return "" }
    return String(decoding: levels[1].utf8.prefix(InboundLimits.userBytes), as: UTF8.self)
  }

  /// At most four. At bytes, as the broker's access list does it: to Swift, a slash and an accent after it are one
  /// character.
  private static func levels(_ topic: Substring) -> [Substring] {
    topic.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false).map(Substring.init)
  }
}

/// Topics on which nobody acts, for finding out what a broker lets a login do: `<base>/<group>/<user>/probe`.
///
/// A probe is never retained. Below `in/` the daemon drops it without a rejection, and without counting it. Of a
/// request that a list allows by its name, the daemon drops the payload of a probe.
package struct ProbeTopic: Sendable, Hashable {
  /// What is below a base topic, by who may read and write it.
  package enum Group: String, Sendable, CaseIterable {
    /// Events and requests: written by their user, read by the daemon.
    case inbound = "in"
    /// Answers and datasets: written by the daemon, read by their user.
    case outbound = "out"
    // States, events and alerts: written by the daemon, read by monitors.
    case bridge, router, network, alert
  }

  /// The last level.
  package static let name = "probe"
  /// A user of the broker that nobody is, so that a topic of this user is another's to every login.
  package static let nobody = "threadkeeper-probe"

  /// Of the home.
  package let base: String
  package let group: Group
  package let user: String

  package init(base: String, group: Group, user: String = ProbeTopic.nobody) {
    self.base = base
    self.group = group
    self.user = user
  }

  package var text: String { "\(base)/\(group.rawValue)/\(user)/\(Self.name)" }

  /// - Parameter name: another in each message.
  static func payload(_ name: String) -> [UInt8] { Array("\(prefix)\(name)\",\"v\":1}".utf8) }
  private static let prefix = "{\"probe\":\""

  /// Whether a message does nothing but arrive, on whatever topic.
  package static func isPayload(_ bytes: [UInt8]) -> Bool { bytes.count < 200 && bytes.starts(with: prefix.utf8) }

  /// Whether a topic is that of a probe below `in`, whatever its base topic is.
  package static func isInbound(_ topic: String) -> Bool {
    let levels = topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return levels.count > 3 && levels[levels.count - 1].elementsEqual(name.utf8)
      && levels[levels.count - 3].elementsEqual(Group.inbound.rawValue.utf8)
  }
}

/// Which team each user of the broker speaks for. A pure value. Users are compared by bytes, as the broker does: to
/// Swift an accented letter equals its two parts.
package struct BrokerTeams: Sendable, Hashable {
  /// Access groups of threadkeeper's own begin so.
  package static let reservedPrefix = "threadkeeper."

  /// The users of each team that is listed.
  private let users: [String: [String]]
  /// Names of teams that users of the broker do not get by their own names.
  private let others: Set<String>

  /// - Parameters:
  ///   - users: of each team; every user is in one team at most.
  ///   - others: names of teams of users of this machine.
  package init(_ users: [String: [String]] = [:], others: Set<String> = []) {
    self.users = users
    self.others = others
  }

  /// The team that lists the user, otherwise a team of the user's own.
  ///
  /// An own team bears the user's name. Where that name is another team's, or one that threadkeeper keeps for
  /// itself, it is `user/<name>`: nobody gets into a team by choosing a name. No user name has a slash, so
  /// neither can it be mistaken for another user's.
  package func team(of user: String) -> String {
    for (team, users) in users where users.contains(where: { $0.utf8.elementsEqual(user.utf8) }) { return team }
    let isTaken = users[user] != nil || others.contains(user) || user.hasPrefix(Self.reservedPrefix)
    return isTaken ? "user/\(user)" : user
  }
}
