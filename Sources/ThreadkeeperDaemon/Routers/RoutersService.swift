// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import ThreadDataset

/// Fulfils `routers transfer`, `release` and `remove` on an open store: in the daemon, or in the command.
package struct RoutersService: Sendable {
  let settings: Settings
  let ownership: OwnershipService
  /// Who is named in the audit.
  let actor: String

  package init(settings: Settings, ownership: OwnershipService, actor: String) {
    self.settings = settings
    self.ownership = ownership
    self.actor = actor
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  package func transfer(_ request: RouterTransfer) throws -> RoutersReport {
    let team = request.team
    return try change(request.borderAgentId, of: request.home) {
      try ownership.transfer($0, in: $1, to: team, logins: logins(of: team), by: actor)
    }
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  package func release(_ router: RouterSelection) throws -> RoutersReport {
    try change(router.borderAgentId, of: router.home) {
      try ownership.release($0, in: $1, by: actor)
    }
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  package func remove(_ router: RouterSelection) throws -> RoutersReport {
    try change(router.borderAgentId, of: router.home) {
      try ownership.remove($0, in: $1, by: actor)
    }
  }

  private func change(
    _ hex: String, of homeName: String,
    _ body: (BorderAgentID, _ home: String) throws -> OwnershipChange
  ) throws -> RoutersReport {
    guard let agent = BorderAgentID(hex: hex) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    let home = try settings.home(named: homeName)
    let change: OwnershipChange
    do {
      change = try body(agent, home)
    } catch let failure as OwnershipFailure {
      throw Self.failure(failure, agent)
    }
    return RoutersReport(
      home: home, borderAgentId: agent.description, previousTeam: change.previousTeam,
      team: change.team, credentials: change.hadCredentials, changed: change.isChange,
      teamKnown: change.team.map { _ in change.isTeamKnown })
  }

  private func logins(of team: String) throws(CommandFailure) -> [String] {
    switch settings.members(ofTeam: team) {
    case .logins(let logins): return logins
    case .nobody(let reason):
      throw CommandFailure(
        .usage, "nobody speaks for the team `\(team)`: \(reason)",
        remedy: "name a team with users, or list a user in the setting `teams`")
    case .invalid(let reason):
      throw CommandFailure(.usage, "`\(team)` is no name of a team: \(reason)")
    }
  }

  private static func failure(_ failure: OwnershipFailure, _ agent: BorderAgentID) -> CommandFailure
  {
    switch failure {
    case .unknownID:
      CommandFailure(
        .noInput, "nothing is stored or listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` and `threadkeeper credentials list` show the ids")
    case .unownedID:
      CommandFailure(
        .noInput, "the border agent id \(agent) belongs to no team",
        remedy: "the next team that announces it with a dataset owns it")
    case .damaged:
      CommandFailure(
        .badInput, "what is stored under the border agent id \(agent) is damaged",
        remedy: "restore a backup, or delete it with `threadkeeper routers release \(agent)`")
    }
  }
}
