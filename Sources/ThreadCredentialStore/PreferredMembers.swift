// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The border routers that belong to a preferred network, and those that had its key when they left.
package struct PreferredMembers: Hashable, Sendable {
  /// Damaged credentials that name the network. Whether their router is a member, and which keys it uses,
  /// cannot be read.
  package struct Damaged: Hashable, Sendable {
    /// Nil where the attributes of the item are damaged, too.
    package var agent: BorderAgentID?
    /// Nil where the attributes of the item are damaged, too.
    package var team: String?

    package init(agent: BorderAgentID?, team: String?) {
      self.agent = agent
      self.team = team
    }
  }

  /// A router without credentials that had the network's key when it lost them. Its owner is kept for 30 days.
  package struct Departed: Hashable, Sendable {
    package var agent: BorderAgentID
    package var team: String

    package init(agent: BorderAgentID, team: String) {
      self.agent = agent
      self.team = team
    }
  }

  package var readable: [PreferredDecision.Member]
  package var damaged: [Damaged]
  package var departed: [Departed]

  package init(
    _ readable: [PreferredDecision.Member] = [], damaged: [Damaged] = [], departed: [Departed] = []
  ) {
    self.readable = readable
    self.damaged = damaged
    self.departed = departed
  }

  package var isEmpty: Bool { readable.isEmpty && damaged.isEmpty && departed.isEmpty }

  /// All but one border router.
  package func besides(_ agent: BorderAgentID) -> PreferredMembers {
    PreferredMembers(
      readable.filter { $0.agent != agent }, damaged: damaged.filter { $0.agent != agent },
      departed: departed.filter { $0.agent != agent })
  }

  /// Whether all of them are one team's. Damaged credentials of an unknown team are another team's.
  func belong(to team: String) -> Bool {
    func isSame(_ other: String) -> Bool { other.utf8.elementsEqual(team.utf8) }
    return readable.allSatisfy { isSame($0.team) }
      && damaged.allSatisfy { $0.team.map(isSame) ?? false }
      && departed.allSatisfy { isSame($0.team) }
  }
}
