// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import ThreadCredentialStore

/// A team has a limited number of border agent ids, and an id whose router left does not belong to it for ever.
extension Ownership {
  /// How long an id without credentials continues to belong to the team of a router that left, in seconds.
  static let retention = 30 * 86_400
  /// Rows looked at for one that can go. More are in the way only when their items are damaged.
  private static let candidates = 8

  /// Lets a team have one more id. At its limit, the router that left first is forgotten for it.
  ///
  /// - Parameter stored: the row of the id.
  /// - Returns: what follows; nil when no more are allowed.
  func makeRoom(
    for team: String, _ stored: RouterRecord?, in home: HomeRecord
  ) throws -> [Effect]? {
    if let stored, BrokerUser.isSame(stored.team ?? configuration.team(stored.user), team) {
      return []
    }
    let most = configuration.routersPerTeam
    if try RouterLedger.mostRows(tx) < most { return [] }
    let count = try RouterLedger.count(of: team, home: home.id, upTo: most, tx)
    guard count >= most else { return [] }
    let left = try RouterLedger.left(of: team, home: home.id, limit: Self.candidates, tx)
    for router in left {
      if let effects = try forget(router, in: home.name, of: team, leftBefore: nil) {
        return effects
      }
    }
    return nil
  }

  /// Deletes all that is kept of a router that left: its owner, its row, its sequence numbers.
  ///
  /// The row can be edited by anyone who can write to the file. So the sealed items decide, and where the row
  /// contradicts them, it is corrected.
  ///
  /// - Parameters:
  ///   - team: whose id it has to be; nil: any team's.
  ///   - deadline: since when it must have been away; nil: since any time.
  /// - Returns: what follows; nil where it was not deleted.
  func forget(
    _ router: RouterRecord, in home: String, of team: String?, leftBefore deadline: WireTime?
  ) throws -> [Effect]? {
    var kept = router
    do {
      let owner = try store.departure(of: router.agent, in: home, tx)
      if try store.team(of: router.agent, in: home, tx) != nil {
        kept.credential = .stored
      } else if let owner, let team, !BrokerUser.isSame(owner.team, team) {
        kept.team = owner.team
      } else if let owner, let deadline, owner.modified / 1_000 > deadline.milliseconds {
        kept.lastSeen = WireTime(milliseconds: owner.modified / 1_000)
      } else {
        try store.deleteOwner(of: router.agent, in: home, tx)
        try store.deleteAdoption(of: router.agent, in: home, tx)
        try RouterLedger.delete(router, tx)
        if let owner {
          let reason = deadline == nil ? "for another id of its team" : "left 30 days ago"
          try store.keychain.note(
            .routerRemoved, "\(router.agent) home \(home) from \(owner.team): \(reason)", in: tx)
        }
        return [.routerForgotten, .checkKeys(home: router.home)]
      }
    } catch let error as KeychainError where error.isItemDamaged {
      // Whose it is, is not known: a person decides, with `routers remove`.
      kept.lastSeen = now
    }
    try RouterLedger.update(kept, tx)
    return nil
  }
}
