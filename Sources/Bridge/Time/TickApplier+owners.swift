// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore

/// Border agent ids whose routers are not there: who owns them, and until when.
extension TickApplier {
  /// Routers forgotten in one tick.
  private static let forgottenAtOnce = 50
  /// Items looked at in one tick.
  private static let itemsAtOnce = 500

  /// Forgets routers that left 30 days ago.
  func forgetLeftRouters() throws {
    let deadline = batch.now.adding(seconds: -Ownership.retention)
    let left = try RouterLedger.left(before: deadline, limit: Self.forgottenAtOnce, batch.tx)
    for router in left {
      let home = try batch.home(router.home).record.name
      let effects = try batch.ownership.forget(router, in: home, of: nil, leftBefore: deadline)
      try batch.apply(effects ?? [])
    }
  }

  /// Gives each owned id its row, and what it has there: after a start, an import, or when the table was made anew.
  func listOwnedIDs() throws {
    guard let cursor = try RouterLedger.ownersCursor(batch.tx) else { return }
    let (ids, next) = try batch.store.ownedIDs(
      after: cursor, limit: Self.itemsAtOnce, batch.tx)
    for id in ids { try list(id) }
    try RouterLedger.setOwnersCursor(next, batch.tx)
  }

  private func list(_ id: OwnedID) throws {
    // A home that the settings do not name has no registry.
    guard let home = batch.servedHomes.first(where: { $0.record.name == id.home }) else { return }
    guard var router = try RouterLedger.find(id.agent, home: home.record.id, batch.tx) else {
      return try RouterLedger.insert(
        RouterRecord(
          absent: id.agent, home: home.record.id, user: "", team: id.team,
          credential: id.hasCredentials ? .stored : .missing,
          // Not since its item was changed: its router may be there, and gets the whole time to announce itself.
          since: batch.now), batch.tx)
    }
    let stored = router
    // Whoever holds the credentials owns the id.
    if id.hasCredentials || router.team == nil { router.team = id.team }
    if !router.isPresent, (router.credential == .stored) != id.hasCredentials {
      router.credential = id.hasCredentials ? .stored : .missing
      // As above: the whole time from now on.
      router.lastSeen = batch.now
    }
    if router != stored { try RouterLedger.update(router, batch.tx) }
  }
}
