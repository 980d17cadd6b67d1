// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// Finds items: by their row, by the blind index, or by a walk over all rows.
final class ItemSearch: Sendable {
  let access: Keychain.Access
  let reader: ItemReader
  let manifest: ManifestStore
  let keys: KeyRing
  let health: StoreHealth

  init(access: Keychain.Access, reader: ItemReader, manifest: ManifestStore) {
    self.access = access
    self.reader = reader
    self.manifest = manifest
    keys = reader.keys
    health = reader.health
  }

  /// The items that a query means, in the order of their rows or the newest first; empty when there are
  /// none. Secrets are not opened, so this works while classes are locked.
  ///
  /// Fast with a whole primary key (one look-up) or an indexed attribute (`RowForm`); every other
  /// query opens all rows. A large walk goes in pages, with `limit` and `after`.
  ///
  /// - Throws: `decode` when a row that may be meant was altered.
  func items(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> [Item] {
    try KeychainError.wrap("searching") {
      if let limit = query.limit, limit <= 0 { return [] }
      if access == .readOnly { try keys.learnIndexKeys(in: tx) }
      let known = keys.index
      let found = try search(query, known, in: tx)
      // A new index key may have come between the look at the keys and the first one at the store.
      let now = keys.index
      return now.newest == known.newest ? found : try search(query, now, in: tx)
    }
  }

  private func search(
    _ query: ItemQuery, _ index: LoadedKeys.Index, in tx: ReadTransaction
  ) throws -> [Item] {
    switch try plan(query, index, in: tx) {
    case .row(let rowID):
      return try collect(
        query, [[.integer(rowID)]], in: tx,
        "SELECT id, uuid, class, version, metadata FROM items WHERE id = ?")
    case .primary(let keys):
      return try collect(
        query, keys.map { [.blob($0)] }, in: tx,
        """
        SELECT id, uuid, class, version, metadata FROM items WHERE primary_index = ?
        """)
    case .first(let values, let attribute):
      return try collect(
        query, values.map { [.blob($0), .integer(query.firstRow)] }, indexed: attribute, in: tx,
        query.isNewestFirst
          ? """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE index_1 = ? AND id >= ? ORDER BY id DESC
          """
          : """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE index_1 = ? AND id >= ? ORDER BY id
          """)
    case .second(let values, let attribute):
      return try collect(
        query, values.map { [.blob($0), .integer(query.firstRow)] }, indexed: attribute, in: tx,
        query.isNewestFirst
          ? """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE index_2 = ? AND id >= ? ORDER BY id DESC
          """
          : """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE index_2 = ? AND id >= ? ORDER BY id
          """)
    case .scan:
      return try collect(
        query, [[.integer(query.firstRow)]], in: tx,
        query.isNewestFirst
          ? """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE id >= ? ORDER BY id DESC
          """
          : """
          SELECT id, uuid, class, version, metadata FROM items
          WHERE id >= ? ORDER BY id
          """)
    }
  }

  /// - Parameter index: the index keys as they are now.
  func plan(
    _ query: ItemQuery, _ index: LoadedKeys.Index, in tx: ReadTransaction
  ) throws -> SearchPlan {
    // An altered index would hide an item.
    if health.hidesItems { return .scan }
    return try SearchPlan(query, indexes: index.keys.map { BlindIndex(key: $0.key) }) {
      try manifest.current(in: tx).threadCredentials > 0
    }
  }

  /// Runs `sql` with each of `bindings` and keeps what the query means.
  private func collect(
    _ query: ItemQuery, _ bindings: [[SQLiteValue]], indexed: ItemAttribute? = nil,
    in tx: ReadTransaction, _ sql: StaticString
  ) throws -> [Item] {
    var found: [Item] = []
    for values in bindings {
      var foundHere = 0
      try tx.forEach(sql, bound: values) { row in
        guard let item = try readable(row, query, in: tx) else { return true }
        if let indexed, let wanted = query.attributes[indexed] {
          // The row was found by this value: if it says another, its index was altered.
          guard item[indexed]?.matches(wanted) == true else {
            throw health.corrupt(row: item.rowID, "its index")
          }
        }
        guard item.rowID >= query.firstRow, query.matches(item) else { return true }
        found.append(item)
        foundHere += 1
        return query.limit.map { foundHere < $0 } ?? true
      }
    }
    if found.isEmpty { try health.checkListing() }
    guard bindings.count > 1 else { return found }
    found.sort { query.isNewestFirst ? $0.rowID > $1.rowID : $0.rowID < $1.rowID }
    return query.limit.map { Array(found.prefix($0)) } ?? found
  }

  func readable(
    _ row: SQLiteRow, _ query: ItemQuery, in tx: ReadTransaction
  ) throws -> Item? {
    do {
      return try reader.item(from: row, in: tx)
    } catch let error as KeychainError
      where error.status == .decode && query.unreadable == .skip
    {
      return nil
    }
  }
}
