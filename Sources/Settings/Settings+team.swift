// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Settings {
  /// Which teams users of the broker speak for. Of the names of `client_users`, none is given to a user of the broker.
  package var brokerTeams: BrokerTeams {
    BrokerTeams(teams, others: Set(clientUsers.values))
  }

  /// The team that a user of the broker speaks for: see `BrokerTeams.team`.
  package func team(ofUser user: String) -> String { brokerTeams.team(of: user) }

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

  /// Whether nobody can speak for a team that owns a border agent id.
  ///
  /// The broker's logins are unknown here, so silence proves nothing: a login that no team lists is a team of
  /// its own, and may come back any day. A team is abandoned where the settings have its only login speak
  /// for another team, or where the login that spoke last for the id speaks for another team since and no
  /// login of the team's name was ever seen.
  ///
  /// - Parameters:
  ///   - lastLogin: the user of the broker that spoke last for the id; nil where none is known.
  ///   - seen: users of the broker that have spoken for any router.
  package func isAbandoned(_ team: String, lastLogin: String?, seen: Set<String>) -> Bool {
    let hasProgram = clientUsers.values.contains(team)
    if teams[team] != nil || hasProgram { return teams[team]?.isEmpty == true && !hasProgram }
    if let user = Self.rest(of: team, after: "uid/") {
      return UInt32(user).flatMap { clientUsers[$0] } != nil
    }
    let own = Self.rest(of: team, after: "user/") ?? team
    guard self.team(ofUser: own).utf8.elementsEqual(team.utf8) else { return true }
    guard let lastLogin else { return false }
    return !self.team(ofUser: lastLogin).utf8.elementsEqual(team.utf8) && !seen.contains(own)
  }

  /// Teams that the settings list without any user.
  package var emptyTeams: [String] {
    teams.filter { $0.value.isEmpty && !clientUsers.values.contains($0.key) }.keys.sorted()
  }

  private static func rest(of team: String, after prefix: String) -> String? {
    guard team.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(team.utf8.dropFirst(prefix.utf8.count)))
  }
}
