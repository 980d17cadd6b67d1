// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// What a program or an import has changed in the store beside the registry.
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

  /// The router as an import has left it.
  func imported(_ agent: BorderAgentID, in home: HomeRecord) throws -> [Effect] {
    guard let stored = try RouterLedger.find(agent, home: home.id, tx) else { return [] }
    var router = stored
    guard stored.isPresent else {
      let team = try store.team(of: agent, in: home.name, tx)
      router.credential = team == nil ? .missing : .stored
      try RouterLedger.update(router, tx)
      return []
    }
    let dataset = try store.readableCredential(of: agent, in: home.name, tx)?.dataset
    var event = EventRecord(time: now, home: home.id)
    event.router = agent
    if let dataset {
      router.credential = .stored
      router.describe(dataset, at: now)
      event.types = .datasetStored
      event.network = dataset.extendedPANID
      event.detail.networkName = dataset.networkName
    } else {
      // A dataset that is damaged is still there. Else it went because the import says that the id is another team's.
      guard try store.team(of: agent, in: home.name, tx) == nil else { return [] }
      router.credential = .missing
      router.forgetDataset()
    }
    let change = RouterChange(router, stored: stored, trigger: "imported", now: now)
    change.dataset = .known(dataset)
    change.event = event
    return [.router(change)]
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
