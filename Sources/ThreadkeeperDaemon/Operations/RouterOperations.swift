// SPDX-License-Identifier: Apache-2.0

import Bridge
import ThreadDataset

/// Removes a router that is gone, with all that is stored of it. The next team that announces its id owns it.
package struct RemoveRouter: Operation {
  /// A second removal finds nothing.
  package static let isRepeatable = false

  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }

  /// Also what `routers remove --json` prints.
  package struct Reply: Codable, Sendable {
    package var home: String
    package var borderAgentId: String
    /// Absent where nobody owned the id.
    package var previousTeam: String?
    /// Whether credentials were stored under the id.
    package var credentials: Bool
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    do {
      let removed = try context.bridge.ownership.remove(agent, in: home, by: context.actor)
      return Reply(
        home: home, borderAgentId: agent.description, previousTeam: removed.team,
        credentials: removed.hadCredentials)
    } catch OwnershipFailure.unknownID {
      throw CommandFailure(
        .noInput, "nothing is stored or listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` and `threadkeeper credentials list` show the ids")
    }
  }
}

/// Ends the alert `UnknownRouter` of a router.
package struct AcceptRouter: Operation {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }

  /// Also what `routers accept --json` prints.
  package struct Reply: Codable, Sendable {
    package var home: String
    package var borderAgentId: String
    package var changed: Bool
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    do {
      let isChange = try context.bridge.acceptance.accept(
        router: agent, in: home, by: context.actor)
      return Reply(home: home, borderAgentId: agent.description, changed: isChange)
    } catch OwnershipFailure.unknownID {
      throw CommandFailure(
        .noInput, "no border router is listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` shows the ids")
    }
  }
}

/// Ends the alerts about routers on a network that is not the preferred one and never was theirs.
package struct AcceptNetwork: Operation {
  package var home: String
  /// 16 hexadecimal digits.
  package var extPanId: String
  /// False takes it back.
  package var accepted: Bool

  package init(home: String, extPanId: String, accepted: Bool) {
    self.home = home
    self.extPanId = extPanId
    self.accepted = accepted
  }

  /// Also what `networks accept --json` prints.
  package struct Reply: Codable, Sendable {
    package var home: String
    package var extPanId: String
    package var changed: Bool
    /// Whether it is listed.
    package var known: Bool
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    guard let id = ExtendedPANID(hex: extPanId) else {
      throw CommandFailure(.usage, "an Extended PAN ID has 16 hex digits")
    }
    let home = try context.settings.home(named: home)
    let (isChange, isKnown) = try context.bridge.acceptance.accept(
      network: id, in: home, isAccepted: accepted, by: context.actor)
    return Reply(home: home, extPanId: id.description, changed: isChange, known: isKnown)
  }
}

extension BorderAgentID {
  package init(parameter: String) throws(CommandFailure) {
    guard let id = BorderAgentID(hex: parameter) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    self = id
  }
}
