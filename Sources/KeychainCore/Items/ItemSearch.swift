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
    try find(query, in: tx) { _ in false }.map(\.item)
  }

  /// The first item that a query means, with its secret; nil when there is none.
  ///
  /// - Parameter tx: nil: what is committed now, in one statement where the query gives a whole primary key.
  /// - Throws: what `items` and `secret` throw.
  package func first(matching query: ItemQuery, in tx: ReadTransaction? = nil) throws(KeychainError) -> (
    item: Item, secret: SecretBytes
  )? {
    guard tx != nil || access == .readWrite else { return try read { try first(matching: query, in: $0) } }
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    var found = try find(query, in: tx) { _ in true }
    guard case (let item, let secret?)? = found.popLast() else { return nil }
    return (item, secret)
  }

  typealias Found = (item: Item, secret: SecretBytes?)

  /// - Parameters:
  ///   - tx: nil: of what is committed now.
  ///   - isOpened: says of which items the secrets are opened, in the statement that finds them.
  func find(_ query: ItemQuery, in tx: ReadTransaction?, opening isOpened: (Item) -> Bool) throws(KeychainError)
    -> [Found]
  {
    try KeychainError.wrap("searching") {
      if let limit = query.limit, limit <= 0 { return [] }
      if access == .readOnly, let tx { try keys.checkIndexKey(in: tx) }
      let known = keys.indexes
      let found = try find(query, by: known, in: tx, opening: isOpened)
      // A new index key may have come between the look at the keys and the first one at the store.
      let now = keys.indexes
      if now.last?.key === known.last?.key { return found }
      return try find(query, by: now, in: tx, opening: isOpened)
    }
  }

  private func find(
    _ query: ItemQuery, by indexes: [BlindIndex], in tx: ReadTransaction?, opening isOpened: (Item) -> Bool
  ) throws -> [Found] {
    // An altered index would hide an item.
    let plan = health.hidesItems ? .scan : try SearchPlan(query, indexes: indexes)
    func run(_ tx: ReadTransaction) throws -> [Found] { try self.run(plan, of: query, in: tx, opening: isOpened) }
    if let tx { return try run(tx) }
    return try plan.keys.count == 1 ? database.look(run) : database.read(run)
  }

  private func run(_ plan: SearchPlan, of query: ItemQuery, in tx: ReadTransaction, opening isOpened: (Item) -> Bool)
    throws -> [Found]
  {
    let isSingle = plan.keys.count == 1
    var found: [Found] = []
    for key in plan.keys {
      var foundHere = 0
      var seen: Set<Int64> = []
      try plan.forEach(key, in: tx) { row in
        // A damaged page can lead to one row twice, and then to another one not at all.
        guard !health.hidesItems || seen.insert(row.integer(0)).inserted else {
          throw health.corrupt(row: row.integer(0), "its place in the file")
        }
        guard let item = try readable(row, query, in: tx) else { return true }
        if let indexed = plan.indexed, let wanted = query.attributes[indexed] {
          // The row was found by this value: if it says another, its index was altered.
          guard item[indexed]?.matches(wanted) == true else { throw health.corrupt(row: item.rowID, "its index") }
        }
        guard query.matches(item) else { return true }
        // Of several look-ups not all that is found is meant.
        found.append((item, isSingle && isOpened(item) ? try secret(of: item, from: row, in: tx) : nil))
        foundHere += 1
        return query.limit.map { foundHere < $0 } ?? true
      }
    }
    if found.isEmpty { try health.checkListing() }
    if isSingle { return found }
    found.sort { $0.item.rowID < $1.item.rowID }
    return try found.prefix(query.limit ?? .max).map { item, _ in
      (item, isOpened(item) ? try secret(of: item, in: tx) : nil)
    }
  }

  private func readable(_ row: SQLiteRow, _ query: ItemQuery, in tx: ReadTransaction) throws -> Item? {
    do { return try item(from: row, in: tx) } catch let error as KeychainError
      where error.status == .decode && query.unreadable == .skip
    { return nil }
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
