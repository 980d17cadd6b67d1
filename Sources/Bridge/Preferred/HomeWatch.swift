// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

/// What a change of a router means for its home: whether the home has moved, and whether the keys of its preferred
/// network are disputed. It is noted in the home's changes.
struct HomeWatch {
  let context: TransactionContext
  let home: HomeContext

  /// Notes a router that is about to be written, for the alerts of its home.
  func note(
    _ router: RouterRecord, stored: RouterRecord?, _ dataset: OperationalDataset?
  ) throws {
    home.changes.hasChangedRouters = true
    try noteKeys(dataset)
    if HomeMoves.concerns(router, stored: stored) { try findMove(with: router) }
  }

  /// Notes credentials that name the preferred network and have other keys.
  func noteKeys(_ dataset: OperationalDataset?) throws {
    guard let dataset, let preferred = try context.preferredNetwork(of: home),
      dataset.extendedPANID == preferred.extendedPANID, !dataset.hasKeys(of: preferred)
    else { return }
    home.changes.needsKeyCheck = true
  }

  /// Finds where the home is now.
  ///
  /// - Parameter router: one as it is about to be written.
  func findMove(with router: RouterRecord?) throws {
    let destination = try HomeMoves(tx: context.tx).destination(
      of: home.record, preferred: context.preferredNetwork(of: home)?.extendedPANID, with: router)
    guard destination != home.changes.movedTo else { return }
    home.changes.movedTo = destination
    home.changes.needsRouterChecks = true
  }

  /// Whether an alert of the home explains why a router differs from the preferred network.
  func explains(_ router: RouterRecord, _ dataset: OperationalDataset?) throws -> Bool {
    let preferred = try context.preferredNetwork(of: home)
    if let network = router.network, network == home.changes.movedTo,
      let id = preferred?.extendedPANID, router.memberOf == id
    {
      return true
    }
    return try KeyDisputes(store: context.store, now: context.now, tx: context.tx)
      .isClaim(router, dataset, preferred: preferred, in: home.record.name)
  }
}
