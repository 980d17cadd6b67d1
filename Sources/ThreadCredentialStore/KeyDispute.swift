// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Members of the preferred network that report other keys than it has.
package struct KeyDispute: Hashable, Sendable {
  /// Who reports newer datasets with other keys, the newest first.
  package let claimants: [PreferredDecision.Member]
  /// The other members.
  package let others: [PreferredDecision.Member]
  /// Damaged credentials that name the network.
  package let damaged: [PreferredMembers.Damaged]
  /// Routers that had the current key when they left.
  package let departed: [BorderAgentID]

  /// - Returns: nil where no router claims new keys.
  package init?(preferred: OperationalDataset, members: PreferredMembers) {
    let claimants = members.readable.filter {
      $0.dataset.relation(to: preferred) == .newer && !$0.dataset.hasKeys(of: preferred)
    }
    guard !claimants.isEmpty else { return nil }
    self.claimants = claimants.sorted {
      guard let a = $0.dataset.activeTimestamp, let b = $1.dataset.activeTimestamp, a != b else {
        return $0.agent.description < $1.agent.description
      }
      return a > b
    }
    let agents = Set(claimants.map(\.agent))
    others = members.readable.filter { !agents.contains($0.agent) }
    damaged = members.damaged
    departed = members.departed.map(\.agent)
  }
}
