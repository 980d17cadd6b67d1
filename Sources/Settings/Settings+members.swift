// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

extension Settings {
  /// Who speaks for a team.
  package enum TeamMembers: Equatable, Sendable {
    /// These users of the broker, in the order of the settings. None where only programs of this machine do.
    case logins([String])
    /// Nobody; with the reason, as the end of a sentence.
    case nobody(String)
    /// It cannot be the name of a team; with the reason.
    case invalid(String)
  }

  /// Who speaks for a team, listed in the settings or not: a login that no team lists is a team of its own.
  package func members(ofTeam team: String) -> TeamMembers {
    let reserved = BrokerTeams.reservedPrefix
    guard !team.utf8.starts(with: reserved.utf8) else {
      return .invalid("names that begin with `\(reserved)` are kept for threadkeeper itself")
    }
    if teams[team] != nil || clientUsers.values.contains(team) {
      let logins = teams[team] ?? []
      guard !logins.isEmpty || clientUsers.values.contains(team) else {
        return .nobody("the setting `teams` lists no user in it")
      }
      return .logins(logins)
    }
    if let number = Self.rest(of: team, after: "uid/") {
      guard let user = UInt32(number) else { return .invalid("expected a number after `uid/`") }
      guard let other = clientUsers[user] else { return .logins([]) }
      return .nobody("the setting `client_users` has user \(user) speak for the team `\(other)`")
    }
    let login = Self.rest(of: team, after: "user/") ?? team
    guard Self.isLogin(login) else {
      return .invalid(
        "expected a team of the settings or a user name of the broker, of 1 to 128 characters "
          + "without `/`, `+`, `#` and control characters")
    }
    let actual = self.team(ofUser: login)
    guard actual.utf8.elementsEqual(team.utf8) else {
      return .nobody("the login `\(login)` speaks for the team `\(actual)`")
    }
    return .logins([login])
  }

  /// Teams that the settings list without any user.
  package var emptyTeams: [String] {
    teams.filter { $0.value.isEmpty && !clientUsers.values.contains($0.key) }.keys.sorted()
  }

  private static func rest(of team: String, after prefix: String) -> String? {
    guard team.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(team.utf8.dropFirst(prefix.utf8.count)))
  }

  /// Whether it can be one level of a topic: `in/<user>/…` says who speaks.
  private static func isLogin(_ name: String) -> Bool {
    let scalars = name.unicodeScalars
    return (1...128).contains(scalars.count)
      && !scalars.contains { ASCII.isControl($0) || ["/", "+", "#"].contains($0) }
  }
}
