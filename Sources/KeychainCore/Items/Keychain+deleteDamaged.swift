// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension Keychain {
  /// Deletes what a whole primary key names and whose metadata do not open. What opens stays: that is for
  /// `delete`.
  ///
  /// - Parameter query: with a whole primary key, whose index says which row is meant.
  /// - Returns: how many rows went.
  @discardableResult
  package func deleteDamaged(
    matching query: ItemQuery, in tx: WriteTransaction
  ) throws(KeychainError) -> Int {
    try checkWritable()
    return try KeychainError.wrap("deleting a damaged item") {
      guard case .primary(let keys) = try plan(query, in: tx) else { return 0 }
      var damaged: [ItemReference] = []
      for key in keys {
        try tx.forEach(
          "SELECT id, uuid, class, version, metadata FROM items WHERE primary_index = ?",
          bound: [.blob(key)]
        ) { row in
          do {
            _ = try item(from: row, in: tx)
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
    guard let stored = try StoredRow(reference, in: tx) else { throw Self.notFound() }
    let ledger = try ledgerForChange(tx)
    try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
    note(.deleted, "the damaged item in row \(stored.rowID)", ledger)
    ledger.owesErasure = true
    tx.afterCommit("damaged \(stored.rowID)") {
      self.state.withLock { _ = $0.quarantine.remove(stored.rowID) }
    }
  }
}
