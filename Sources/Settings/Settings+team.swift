// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The team that a user of the broker speaks for: the one that lists the user, otherwise a
  /// team of the user's own.
  ///
  /// An own team bears the user's name. Where that name is a listed team's, or one that
  /// threadkeeper keeps for itself, it is `user/<name>`: nobody gets into a team by choosing
  /// a name. No user name has a slash, so neither can it be mistaken for another user's.
  package func team(ofUser user: String) -> String {
    for (team, users) in teams where users.contains(where: { $0.utf8.elementsEqual(user.utf8) }) {
      return team
    }
    let isTaken = teams[user] != nil || user.hasPrefix(Settings.reservedTeamPrefix)
    return isTaken ? "user/\(user)" : user
  }

  /// Access groups of threadkeeper's own begin so.
  static let reservedTeamPrefix = "threadkeeper."
}
