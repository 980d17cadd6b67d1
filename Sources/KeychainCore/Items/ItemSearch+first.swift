// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension ItemSearch {
  /// The first item that a query means, with its secret; nil when there is none. For a query that gives a
  /// whole primary key this looks at the store once, where `items` and `secret` look twice.
  ///
  /// - Throws: what these two throw.
  func first(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> (item: Item, secret: SecretBytes)? {
    try KeychainError.wrap("reading an item") {
      let known = keys.index
      if access != .readOnly, case .primary(let values) = try plan(query, known, in: tx),
        values.count == 1
      {
        if let found = try lookUp(values[0], query, in: tx) { return found }
        // A new index key may have come between the look at the keys and the one at the store.
        if keys.index.newest == known.newest {
          try health.checkListing()
          return nil
        }
      }
      var query = query
      query.limit = min(query.limit ?? 1, 1)
      guard let item = try items(matching: query, in: tx).first else { return nil }
      return (item, try reader.secret(of: item, in: tx))
    }
  }

  private func lookUp(
    _ key: [UInt8], _ query: ItemQuery, in tx: ReadTransaction
  ) throws -> (item: Item, secret: SecretBytes)? {
    let found = try tx.first(
      """
      SELECT id, uuid, class, version, metadata, class_key, wrapped_key, secret
      FROM items WHERE primary_index = ?
      """, .blob(key)
    ) { row -> (Item, SecretBytes)? in
      guard let item = try readable(row, query, in: tx), item.rowID >= query.firstRow,
        query.limit ?? 1 > 0, query.matches(item)
      else { return nil }
      return (
        item,
        try reader.openSecret(of: item, version: item.secretVersion, from: row, at: 5, in: tx)
      )
    }
    return found ?? nil
  }
}
