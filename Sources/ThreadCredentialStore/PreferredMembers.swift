// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The border routers that belong to a preferred network.
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

  package var readable: [PreferredDecision.Member]
  package var damaged: [Damaged]

  package init(_ readable: [PreferredDecision.Member] = [], damaged: [Damaged] = []) {
    self.readable = readable
    self.damaged = damaged
  }

  package var isEmpty: Bool { readable.isEmpty && damaged.isEmpty }

  /// All but one border router.
  package func besides(_ agent: BorderAgentID) -> PreferredMembers {
    PreferredMembers(
      readable.filter { $0.agent != agent }, damaged: damaged.filter { $0.agent != agent })
  }

  /// Whether all of them are one team's. Damaged credentials of an unknown team are another team's.
  func belong(to team: String) -> Bool {
    func isSame(_ other: String) -> Bool { other.utf8.elementsEqual(team.utf8) }
    return readable.allSatisfy { isSame($0.team) }
      && damaged.allSatisfy { $0.team.map(isSame) ?? false }
  }
}
