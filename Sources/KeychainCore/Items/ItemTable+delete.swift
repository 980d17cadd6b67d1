// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension ItemTable {
  /// Deletes an item.
  ///
  /// - Throws: `itemNotFound` when it is gone already.
  func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try health.checkWritable()
    try KeychainError.wrap("deleting an item") {
      guard let stored = try StoredRow(item.reference, in: tx) else {
        throw KeychainError.noSuchItem()
      }
      let ledger = try changes.ledger(tx)
      try remove(stored, ledger, in: tx)
      audit.note(.deleted, item, ledger)
      ledger.owesErasure = true
    }
  }

  /// Deletes what a whole primary key names and whose metadata do not open. What opens stays: that is for
  /// `delete`.
  ///
  /// - Parameter query: with a whole primary key, whose index says which row is meant.
  /// - Returns: how many rows went.
  func deleteDamaged(
    matching query: ItemQuery, in tx: WriteTransaction
  ) throws(KeychainError) -> Int {
    try health.checkWritable()
    return try KeychainError.wrap("deleting a damaged item") {
      guard case .primary(let values) = try search.plan(query, keys.index, in: tx) else { return 0 }
      var damaged: [ItemReference] = []
      for value in values {
        try tx.forEach(
          "SELECT id, uuid, class, version, metadata FROM items WHERE primary_index = ?",
          bound: [.blob(value)]
        ) { row in
          do {
            _ = try reader.item(from: row, in: tx)
          } catch let error as KeychainError where error.status == .decode {
            guard let id = row.withBlob(1, { ItemID($0) }) else { throw error }
            damaged.append(ItemReference(rowID: row.integer(0), id: id))
          }
          return true
        }
      }
      for reference in damaged { try remove(damaged: reference, in: tx) }
      return damaged.count
    }
  }

  /// Takes out a row that does not open.
  func remove(damaged reference: ItemReference, in tx: WriteTransaction) throws {
    guard let stored = try StoredRow(reference, in: tx) else { throw KeychainError.noSuchItem() }
    let ledger = try changes.ledger(tx)
    try remove(stored, ledger, in: tx)
    audit.note(.deleted, "the damaged item in row \(stored.rowID)", ledger)
    ledger.owesErasure = true
    tx.afterCommit("damaged \(stored.rowID)") {
      self.health.forget(row: stored.rowID)
    }
  }

  func remove(_ stored: StoredRow, _ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
  }
}

extension KeychainError {
  static func noSuchItem() -> KeychainError {
    KeychainError(.itemNotFound, "there is no such item any more")
  }
}
