// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// What a program has changed in the store beside the registry.
extension Routers {
  /// The router as the store has it; nil when the registry has the same, or it is damaged.
  func caughtUp(
    _ stored: RouterRecord, _ credential: ThreadCredential?, in home: String
  ) throws -> RouterChange? {
    var router = stored
    if let dataset = credential?.dataset {
      guard
        dataset.extendedPANID != stored.network || dataset.networkName != stored.networkName
          || dataset.activeTimestamp?.seconds != stored.activeSeconds
          || dataset.channel.map({ Int($0.number) }) != stored.channel
          || dataset.panID.map(Int.init) != stored.panID
      else { return nil }
      router.credential = .stored
      router.describe(dataset, at: now)
    } else {
      guard stored.credential != .missing, stored.network != nil,
        try !holdsCredential(stored.agent, in: home)
      else { return nil }
      router.credential = .missing
      router.forgetDataset()
    }
    let change = RouterChange(router, stored: stored, trigger: "preferred_changed", now: now)
    change.dataset = .known(credential?.dataset)
    return change
  }

  /// Whether credentials are stored for a router, also damaged ones.
  private func holdsCredential(_ agent: BorderAgentID, in home: String) throws -> Bool {
    do {
      return try store.team(of: agent, in: home, tx) != nil
    } catch let error as KeychainError where error.isItemDamaged {
      return true
    }
  }
}
