// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import ThreadDataset

/// Fulfils `routers remove` on an open store: in the daemon, or in the command.
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
  package func remove(_ router: RouterSelection) throws -> RouterRemoval {
    guard let agent = BorderAgentID(hex: router.borderAgentId) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    let home = try settings.home(named: router.home)
    do {
      let removed = try ownership.remove(agent, in: home, by: actor)
      return RouterRemoval(
        home: home, borderAgentId: agent.description, previousTeam: removed.team,
        credentials: removed.hadCredentials)
    } catch OwnershipFailure.unknownID {
      throw CommandFailure(
        .noInput, "nothing is stored or listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` and `threadkeeper credentials list` show the ids")
    }
  }
}
