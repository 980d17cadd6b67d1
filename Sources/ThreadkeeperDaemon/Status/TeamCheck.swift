// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Logging
import Settings
import ThreadCredentialStore

/// Teams for which nobody can speak any more: for the log at the start, and for `status`.
package struct TeamCheck: Codable {
  /// A border agent id whose team is gone. Its router is refused, whoever announces it.
  package struct AbandonedID: Codable, Equatable {
    package let home: String
    package let borderAgentId: String
    package let team: String
  }

  /// Teams of the settings without a user.
  package let empty: [String]
  package let abandonedIds: [AbandonedID]

  init(_ settings: Settings, _ registry: BridgeRegistry, _ keychain: Keychain) throws {
    empty = settings.emptyTeams
    let store = ThreadCredentialStore(keychain)
    let homes = try registry.homes().map { home in
      (
        home.name, try registry.users(in: home),
        try keychain.database.read { try store.owners(in: home.name, $0) }
      )
    }
    let seen = Set(homes.flatMap { $0.1.values })
    abandonedIds = homes.flatMap { home, users, owners in
      owners.filter { agent, team in
        settings.isAbandoned(team, lastLogin: users[agent], seen: seen)
      }.map { AbandonedID(home: home, borderAgentId: $0.key.description, team: $0.value) }
        .sorted { $0.borderAgentId < $1.borderAgentId }
    }
  }

  package func log(to logger: Logger) {
    for team in empty {
      logger.warning(
        "no user belongs to a team of the settings",
        metadata: ["team": "\(team)", "remedy": "list a user in `teams`, or delete the team"])
    }
    for (team, ids) in Dictionary(grouping: abandonedIds, by: \.team).sorted(by: { $0.key < $1.key }
    ) {
      logger.warning(
        "border agent ids belong to a team that nobody speaks for",
        metadata: [
          "team": "\(team)", "count": "\(ids.count)", "border_agent_id": "\(ids[0].borderAgentId)",
          "remedy": "\(Self.remedy(ids[0].borderAgentId))",
        ])
    }
  }

  /// What to do about a border agent id whose team is gone.
  package static func remedy(_ agent: String) -> String {
    "run `threadkeeper routers remove \(agent)`: the next login that announces it owns it"
  }
}
