import SQLiteDatabase
import SodiumCrypto

/// Finds items: by their row, by the blind index, or by a walk over all rows.
extension Keychain {
  /// The items that a query means, in the order of their rows; empty when there are none. Secrets are not
  /// opened, so this works while classes are locked.
  ///
  /// Fast with a whole primary key (one look-up) or an indexed attribute (`ItemClass`); every other
  /// query opens all rows.
  ///
  /// - Throws: `decode` when a row that may be meant was altered.
  package func items(matching query: ItemQuery, in tx: ReadTransaction) throws(KeychainError) -> [Item] {
    try KeychainError.wrap("searching") {
      if let limit = query.limit, limit <= 0 { return [] }
      if access == .readOnly { try keys.checkIndexKey(in: tx) }
      let known = keys.index
      let found = try search(query, known, in: tx)
      // A new index key may have come between the look at the keys and the first one at the store.
      let now = keys.index
      return now.last?.key === known.last?.key ? found : try search(query, now, in: tx)
    }
  }

  private func search(_ query: ItemQuery, _ index: [LoadedKeys.Index], in tx: ReadTransaction) throws -> [Item] {
    let plan = try plan(query, index)
    var found: [Item] = []
    for values in plan.values {
      var foundHere = 0
      try tx.forEach(plan.sql, bound: values) { row in
        guard let item = try readable(row, query, in: tx) else { return true }
        if let indexed = plan.indexed, let wanted = query.attributes[indexed] {
          // The row was found by this value: if it says another, its index was altered.
          guard item[indexed]?.matches(wanted) == true else { throw health.corrupt(row: item.rowID, "its index") }
        }
        guard query.matches(item) else { return true }
        found.append(item)
        foundHere += 1
        return query.limit.map { foundHere < $0 } ?? true
      }
    }
    if found.isEmpty { try health.checkListing() }
    guard plan.values.count > 1 else { return found }
    found.sort { $0.rowID < $1.rowID }
    return query.limit.map { Array(found.prefix($0)) } ?? found
  }

  /// - Parameter index: the index keys as they are now.
  private func plan(_ query: ItemQuery, _ index: [LoadedKeys.Index]) throws -> SearchPlan {
    // An altered index would hide an item.
    if health.hidesItems { return .scan }
    return try SearchPlan(query, indexes: index.map { BlindIndex(key: $0.key) })
  }

  private func readable(_ row: SQLiteRow, _ query: ItemQuery, in tx: ReadTransaction) throws -> Item? {
    do { return try item(from: row, in: tx) } catch let error as KeychainError
      where error.status == .decode && query.unreadable == .skip
    { return nil }
  }

  /// The first item that a query means, with its secret; nil when there is none. For a query that gives a
  /// whole primary key this looks at the store once, where `items` and `secret` look twice.
  ///
  /// - Throws: what these two throw.
  package func first(matching query: ItemQuery, in tx: ReadTransaction) throws(KeychainError) -> (
    item: Item, secret: SecretBytes
  )? {
    try KeychainError.wrap("reading an item") {
      let known = keys.index
      if access != .readOnly, case let plan = try plan(query, known), plan.isUnique, plan.values.count == 1 {
        if let found = try lookUp(plan.values[0], query, in: tx) { return found }
        // A new index key may have come between the look at the keys and the one at the store.
        if keys.index.last?.key === known.last?.key {
          try health.checkListing()
          return nil
        }
      }
      var query = query
      query.limit = min(query.limit ?? 1, 1)
      guard let item = try items(matching: query, in: tx).first else { return nil }
      return (item, try secret(of: item, in: tx))
    }
  }

  private func lookUp(_ key: [SQLiteValue], _ query: ItemQuery, in tx: ReadTransaction) throws -> (
    item: Item, secret: SecretBytes
  )? {
    let found = try tx.first(
      """
      SELECT id, uuid, class, version, metadata, class_key, wrapped_key, secret
      FROM items WHERE primary_index = ?
      """, bound: key
    ) { row -> (Item, SecretBytes)? in
      guard let item = try readable(row, query, in: tx), query.limit ?? 1 > 0, query.matches(item) else { return nil }
      return (item, try secret(of: item, from: row, in: tx))
    }
    return found ?? nil
  }

  /// How many items the keys of a class wrap.
  func count(ofClass accessible: Accessibility, in tx: ReadTransaction) throws -> Int {
    let count = try tx.first(
      "SELECT count(*) FROM items WHERE class_key BETWEEN ? AND ?", accessible.keyPurpose.firstID,
      accessible.keyPurpose.lastID
    ) { Int($0.integer(0)) }
    return count ?? 0
  }
}
