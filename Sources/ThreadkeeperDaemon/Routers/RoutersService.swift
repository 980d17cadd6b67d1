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
  package func answer(_ request: RoutersRequest) throws -> RoutersReport {
    guard let agent = BorderAgentID(hex: request.agent) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    let home = try settings.home(named: request.home)
    let change: OwnershipChange
    do {
      switch request.command {
      case .transfer:
        let team = request.team ?? ""
        change = try ownership.transfer(
          agent, in: home, to: team, logins: logins(of: team), by: actor)
      case .release: change = try ownership.release(agent, in: home, by: actor)
      case .remove: change = try ownership.remove(agent, in: home, by: actor)
      }
    } catch let failure as OwnershipFailure {
      throw Self.failure(failure, agent)
    }
    return RoutersReport(
      home: home, borderAgentID: agent.description, previousTeam: change.previousTeam,
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
