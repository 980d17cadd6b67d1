// SPDX-License-Identifier: Apache-2.0

extension Settings {
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
    switch members(ofTeam: team) {
    case .nobody: return true
    case .invalid: return false
    case .logins(let logins):
      let isListed = teams[team] != nil || clientUsers.values.contains(team)
      guard !isListed, let own = logins.first, let lastLogin else { return false }
      return !self.team(ofUser: lastLogin).utf8.elementsEqual(team.utf8) && !seen.contains(own)
    }
  }
}
