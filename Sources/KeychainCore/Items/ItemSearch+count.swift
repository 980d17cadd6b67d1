// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension ItemSearch {
  /// How many items there are: of all classes at once (the manifest knows), of one by counting.
  func count(
    of itemClass: ItemClass? = nil, in tx: ReadTransaction
  ) throws(KeychainError) -> Int {
    try KeychainError.wrap("counting items") {
      guard let itemClass else {
        return Int(clamping: try manifest.current(in: tx).items)
      }
      if health.hidesItems {
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

  /// How many items the keys of a class wrap.
  func count(ofClass accessible: Accessibility, in tx: ReadTransaction) throws -> Int {
    let purpose = accessible.keyPurpose
    let count = try tx.first(
      "SELECT count(*) FROM items WHERE class_key BETWEEN ? AND ?",
      .integer(Int64(KeyID(purpose, epoch: 0).rawValue)),
      .integer(Int64(KeyID(purpose, epoch: .max).rawValue))
    ) { Int($0.integer(0)) }
    return count ?? 0
  }
}
