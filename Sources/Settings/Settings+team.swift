// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Settings {
  /// The team that a user of the broker speaks for: the one that lists the user, otherwise a
  /// team of the user's own.
  ///
  /// An own team bears the user's name. Where that name is a listed team's, one of `client_users`,
  /// or one that threadkeeper keeps for itself, it is `user/<name>`: nobody gets into a team by choosing
  /// a name. No user name has a slash, so neither can it be mistaken for another user's.
  package func team(ofUser user: String) -> String {
    for (team, users) in teams where users.contains(where: { $0.utf8.elementsEqual(user.utf8) }) {
      return team
    }
    let isTaken =
      teams[user] != nil || clientUsers.values.contains(user)
      || user.hasPrefix(Settings.reservedTeamPrefix)
    return isTaken ? "user/\(user)" : user
  }

  /// The users of the broker who speak for the same team, this one among them.
  package func teammates(ofUser user: String) -> [String] {
    for users in teams.values where users.contains(where: { $0.utf8.elementsEqual(user.utf8) }) {
      return users
    }
    return [user]
  }

  /// The team that a user of this machine speaks for: what `client_users` says, otherwise, for those
  /// whose store it is, a team of the user's own, `uid/<number>`. No other team has such a name.
  ///
  /// - Parameters:
  ///   - user: as the kernel has it.
  ///   - daemon: the user whose daemon it is.
  /// - Returns: nil for a user who is nobody here.
  package func team(ofUID user: UInt32, daemon: UInt32 = geteuid()) -> String? {
    if let team = clientUsers[user] { return team }
    return user == daemon || user == 0 ? "uid/\(user)" : nil
  }

  /// Access groups of threadkeeper's own begin so.
  static let reservedTeamPrefix = "threadkeeper."
}
