// SPDX-License-Identifier: Apache-2.0

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
    for (team, users) in users where users.contains(where: { $0.utf8.elementsEqual(user.utf8) }) {
      return team
    }
    let isTaken =
      users[user] != nil || others.contains(user) || user.hasPrefix(Self.reservedPrefix)
    return isTaken ? "user/\(user)" : user
  }

  /// The users who speak for the same team, this one among them.
  package func teammates(of user: String) -> [String] {
    users.values.first { $0.contains { $0.utf8.elementsEqual(user.utf8) } } ?? [user]
  }
}
