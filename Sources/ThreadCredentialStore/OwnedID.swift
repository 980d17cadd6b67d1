// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import ThreadDataset

/// A border agent id that belongs to a team, by one sealed item: its credentials, or who had them.
package struct OwnedID: Sendable, Hashable {
  package let home: String
  package let agent: BorderAgentID
  package let team: String
  package let hasCredentials: Bool
  /// When the item was changed last, in microseconds since 1970. For an id without credentials: when they were deleted.
  package let modified: Int64

  /// Nil for an item that is not about the owner of an id.
  package init?(_ item: Item) {
    guard let place = StoredPlace(item.itemClass, item.attributes),
      let agent = BorderAgentID(hex: item[.account]?.string ?? "")
    else { return nil }
    switch place.kind {
    case .credential: (team, hasCredentials) = (item.accessGroup, true)
    case .owner: (team, hasCredentials) = (item[.label]?.string ?? "", false)
    case .preferred, .former, .forgotten, .adoption: return nil
    }
    home = place.home
    self.agent = agent
    modified = item.modified
  }
}

extension ThreadCredentialStore {
  /// Who has no credentials under a border agent id, but had them last, and since when.
  package func departure(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> OwnedID? {
    try formerOwnerItem(of: agent, in: home, tx).flatMap { OwnedID($0) }
  }

  /// The owned ids among the next items of the store, in the order of their rows; damaged items are left out.
  ///
  /// - Parameters:
  ///   - row: after which to continue; 0 at the beginning.
  ///   - limit: items to look at.
  /// - Returns: the ids, and the row to continue after; nil at the end.
  package func ownedIDs(
    after row: Int64, limit: Int, _ tx: ReadTransaction
  ) throws -> (ids: [OwnedID], next: Int64?) {
    let items = try keychain.items(
      matching: ItemQuery(
        .genericPassword, limit: limit, after: row, unreadable: .skip), in: tx)
    return (items.compactMap { OwnedID($0) }, items.count < limit ? nil : items.last?.rowID)
  }

  /// How many items there are, of all kinds; 0 where the store cannot be read.
  package func itemCount() -> Int {
    (try? keychain.database.read { try keychain.count(in: $0) }) ?? 0
  }
}
