// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore

/// Border agent ids whose routers are not there.
extension Ownership {
  /// Gives each owned id its row, and what it has there: after a start, or when the table was created again.
  ///
  /// - Parameter limit: items looked at.
  func listOwnedIDs(limit: Int) throws {
    guard let cursor = try RouterLedger.ownersCursor(tx) else { return }
    let (ids, next) = try store.ownedIDs(after: cursor, limit: limit, tx)
    let served = Set(configuration.topics.homes.map(\.name))
    let homes = try HomeLedger.all(tx).filter { served.contains($0.name) }
    for id in ids {
      // A home that the settings do not name has no registry.
      if let home = homes.first(where: { $0.name == id.home }) { try list(id, in: home) }
    }
    try RouterLedger.setOwnersCursor(next, tx)
  }

  private func list(_ id: OwnedID, in home: HomeRecord) throws {
    guard var router = try RouterLedger.find(id.agent, home: home.id, tx) else {
      return try RouterLedger.insert(
        RouterRecord(
          absent: id.agent, home: home.id, user: "", team: id.team,
          credential: id.hasCredentials ? .stored : .missing,
          // Not since its item was changed: its router may be there, and gets the whole time to announce itself.
          since: now), tx)
    }
    let stored = router
    // Whoever holds the credentials owns the id.
    if id.hasCredentials || router.team == nil { router.team = id.team }
    if !router.isPresent, (router.credential == .stored) != id.hasCredentials {
      router.credential = id.hasCredentials ? .stored : .missing
      // As above: the whole time from now on.
      router.lastSeen = now
    }
    if router != stored { try RouterLedger.update(router, tx) }
  }
}
