// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension Keychain {
  /// Deletes an item.
  ///
  /// - Throws: `itemNotFound` when it is gone already.
  package func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try checkWritable()
    try KeychainError.wrap("deleting an item") {
      guard let stored = try StoredRow(item.reference, in: tx) else { throw Self.notFound() }
      let ledger = try ledgerForChange(tx)
      try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
      try ledger.remove(stored.manifestElement)
      note(.deleted, item, ledger)
      ledger.owesErasure = true
    }
  }

  /// How many items there are: of all classes at once (the manifest knows), of one by counting.
  package func count(
    of itemClass: ItemClass? = nil, in tx: ReadTransaction
  ) throws(KeychainError) -> Int {
    try KeychainError.wrap("counting items") {
      guard let itemClass else {
        if let tx = tx as? WriteTransaction, let manifest = ledger(tx).manifest {
          return Int(clamping: manifest.items)
        }
        return Int(clamping: try readManifest(in: tx).0.items)
      }
      if case .readOnly(let reason) = condition, reason.hidesItems {
        // The class in a row may be what was altered: only an opened row is believed.
        let query = ItemQuery(itemClass, synchronizable: .any)
        return try items(matching: query, in: tx).count
      }
      let forms = RowForm.allCases.filter { $0.itemClass == itemClass }
      let first = Int64(forms.first?.rawValue ?? 0)
      let count = try tx.first(
        "SELECT count(*) FROM items WHERE class IN (?, ?)", .integer(first),
        .integer(forms.last.map { Int64($0.rawValue) } ?? first)
      ) { $0.integer(0) }
      return Int(clamping: count ?? 0)
    }
  }
}
