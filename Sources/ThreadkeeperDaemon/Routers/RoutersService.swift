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

/// Fulfils `routers accept` and `networks accept` on an open store: in the daemon, or in the command.
package struct RouterAcceptanceService: Sendable {
  let settings: Settings
  let acceptance: AcceptanceService
  /// Who is named in the audit and the log.
  let actor: String

  package init(settings: Settings, acceptance: AcceptanceService, actor: String) {
    self.settings = settings
    self.acceptance = acceptance
    self.actor = actor
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  package func accept(_ router: RouterSelection) throws -> RouterAcceptance {
    guard let agent = BorderAgentID(hex: router.borderAgentId) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    let home = try settings.home(named: router.home)
    do {
      let isChange = try acceptance.accept(router: agent, in: home, by: actor)
      return RouterAcceptance(home: home, borderAgentId: agent.description, changed: isChange)
    } catch OwnershipFailure.unknownID {
      throw CommandFailure(
        .noInput, "no border router is listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` shows the ids")
    }
  }

  /// - Throws: `CommandFailure`, or what the store throws.
  package func accept(_ network: NetworkSelection) throws -> NetworkAcceptance {
    guard let id = ExtendedPANID(hex: network.extPanId) else {
      throw CommandFailure(.usage, "an Extended PAN ID has 16 hex digits")
    }
    let home = try settings.home(named: network.home)
    let (isChange, isKnown) = try acceptance.accept(
      network: id, in: home, isAccepted: network.accepted, by: actor)
    return NetworkAcceptance(
      home: home, extPanId: id.description, changed: isChange, known: isKnown)
  }
}
