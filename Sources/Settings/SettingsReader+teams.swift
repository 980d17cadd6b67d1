// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import StatePlaces
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

extension SettingsReader {
  mutating func clients(besideStore store: String, users: [UInt32: String]) -> Settings.Clients {
    var clients = Settings.Clients()
    clients.socket = path(.clientsSocket)
    if let socket = clients.socket, FilePath.isInside(socket, store) {
      report(
        .clientsSocket, at: place(of: .clientsSocket),
        "expected a path outside `store.path`, whose directory is closed to other users")
    }
    if clients.socket != nil, users.isEmpty {
      warn(
        .clientsSocket, at: place(of: .clientsSocket),
        "serves nobody who is not served without it: `client_users` names no user")
    }
    return clients
  }

  /// User → team. Two names may be the same user.
  mutating func clientUsers() -> [UInt32: String] {
    guard let (document, node) = mappings["client_users"], !node.isNull else { return [:] }
    guard case .mapping(let mapping) = node.content else {
      report(
        "client_users", at: document.place(of: node),
        "expected a mapping from a user of this machine to a team, found \(node.kind)")
      return [:]
    }
    var teams: [UInt32: String] = [:]
    for (name, key, value) in named(mapping, of: "client_users", in: document) {
      guard let team = clientTeam(value, of: name, in: document) else { continue }
      let place = document.place(of: key)
      guard let user = SystemAccount.user(name) else {
        noteNobody(name, at: place)
        continue
      }
      if let other = teams[user], other != team {
        report(
          "client_users.\(name)", at: place,
          "the user \(user) is already in the team `\(other)`, by another name")
        continue
      }
      teams[user] = team
    }
    return teams
  }

  private mutating func clientTeam(
    _ value: YAMLNode, of name: String, in document: YAMLDocument
  ) -> String? {
    let place = document.place(of: value)
    guard let team = value.text else {
      report("client_users.\(name)", at: place, "expected the name of a team, found \(value.kind)")
      return nil
    }
    return isFit(team: team, at: place, in: "client_users.\(name)") ? team : nil
  }

  /// A user may come with a program that is not installed yet: the daemon of the home goes on.
  private mutating func noteNobody(_ name: String, at place: SettingsProblem.Place) {
    let shown = SettingsEntry.shown(name)
    guard !name.isEmpty,
      !name.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") })
    else {
      report("client_users", at: place, "expected the name or number of a user, found \(shown)")
      return
    }
    warn(
      "client_users.\(name)", at: place,
      "this machine has no user \(shown): nobody is let in by it. Give the number where the name is "
        + "known elsewhere only")
  }
}
