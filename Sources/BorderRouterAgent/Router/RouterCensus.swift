// SPDX-License-Identifier: Apache-2.0

import Synchronization
import ThreadDataset

/// Which router each agent of one process sees, so that one publishes for each router, and none publishes that a router
/// has left which another one sees: two routers whose addresses were swapped are both still there.
package final class RouterCensus: Sendable {
  private struct State {
    /// By address, what was found there last.
    var last: [HTTPAddress: BorderAgentID] = [:]
    /// Who found it first.
    var owners: [BorderAgentID: HTTPAddress] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// - Returns: the address whose agent publishes for this router.
  package func owner(of agent: BorderAgentID, seenAt address: HTTPAddress) -> HTTPAddress {
    state.withLock { state in
      state.last[address] = agent
      if let owner = state.owners[agent], state.last[owner] == agent { return owner }
      state.owners[agent] = address
      return address
    }
  }

  package func seen(besides address: HTTPAddress) -> Set<BorderAgentID> {
    state.withLock { state in Set(state.last.filter { $0.key != address }.values) }
  }
}
