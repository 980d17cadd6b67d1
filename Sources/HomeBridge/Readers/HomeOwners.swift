// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset

/// Whose things are, for `status` and `preferred show`.
extension Home {
  /// Border agent ids that belong to a team, and the login that spoke for each last.
  package var owners: [(agent: BorderAgentID, team: String, user: String?)] {
    routers.compactMap { router in
      router.owner.map { (router.agent, $0.text, router.user?.text) }
    }
  }

  /// Logins that spoke for border routers last, also for those that left.
  package var users: Set<ExactName> { Set(routers.compactMap(\.user)) }

  /// Routers that have credentials of a network that is preferred by its Extended PAN ID alone: nobody has vouched for
  /// them.
  package var unconfirmedReporters: [BorderAgentID] {
    guard let preferred = preferred?.dataset, !preferred.hasCredentials else { return [] }
    return routers.filter { $0.dataset?.network == preferred.network }.map(\.agent)
  }
}
