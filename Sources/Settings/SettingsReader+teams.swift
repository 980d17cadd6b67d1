// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import YAMLReader

extension SettingsReader {
  /// Team → users. A user speaks for one team only.
  mutating func teams() -> [String: [String]] {
    guard let (document, node) = mappings["teams"], !node.isNull else { return [:] }
    guard case .mapping(let mapping) = node.content else {
      report(
        "teams", at: document.place(of: node),
        "expected a mapping from a team to a list of user names, found \(node.kind)")
      return [:]
    }
    var teams: [String: [String]] = [:]
    var teamOfUser: [String: String] = [:]
    for (team, key, value) in named(mapping, of: "teams", in: document) {
      guard isFit(team: team, at: document.place(of: key), in: "teams") else { continue }
      guard case .sequence(let users) = value.content else {
        report(
          "teams.\(team)", at: document.place(of: value),
          "expected a list of user names, found \(value.kind)")
        continue
      }
      teams[team] = []
      for node in users {
        let place = document.place(of: node)
        guard let user = user(node, of: "teams.\(team)", at: place) else { continue }
        if let other = teamOfUser[user] {
          let fault = other == team ? "is listed twice" : "is already in the team `\(other)`"
          report("teams.\(team)", at: place, "the user `\(user)` \(fault)")
          continue
        }
        teamOfUser[user] = team
        teams[team]?.append(user)
      }
    }
    return teams
  }

  /// - Parameter name: the key that has it, for problems.
  mutating func isFit(team: String, at place: SettingsProblem.Place, in name: String) -> Bool {
    guard (1...64).contains(team.utf8.count), team.utf8.allSatisfy(ASCII.isNameByte) else {
      report(
        name, at: place,
        "expected a team name of 1 to 64 letters, digits, `-`, `_` or `.`, found \(SettingsEntry.shown(team))"
      )
      return false
    }
    guard !team.hasPrefix(BrokerTeams.reservedPrefix) else {
      report(
        name == "teams" ? "teams.\(team)" : name, at: place,
        "names that begin with `\(BrokerTeams.reservedPrefix)` are kept for threadkeeper itself")
      return false
    }
    return true
  }

  /// A name that can be one level of a topic: `in/<user>/…` says who speaks.
  ///
  /// - Parameter list: the key that a problem is about.
  mutating func user(_ node: YAMLNode, of list: String, at place: SettingsProblem.Place)
    -> String?
  {
    guard let name = node.text else {
      report(list, at: place, "expected the user name of a broker's login, found \(node.kind)")
      return nil
    }
    let scalars = name.unicodeScalars
    guard (1...128).contains(scalars.count),
      !scalars.contains(where: { ASCII.isControl($0) || ["/", "+", "#"].contains($0) })
    else {
      report(
        list, at: place,
        "expected a user name of 1 to 128 characters without `/`, `+`, `#` and control characters, "
          + "found \(SettingsEntry.shown(name))")
      return nil
    }
    return name
  }
}
