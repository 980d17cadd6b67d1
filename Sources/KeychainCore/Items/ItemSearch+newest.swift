// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension ItemSearch {
  /// Tells whether there is something new among the items that a query finds by an indexed attribute: the
  /// name and version of the last row that has the attribute. No item is opened. What is added gets a later
  /// row, so it always becomes another text; so it may when something is changed or deleted.
  ///
  /// It is a reason to look, and nothing to rely on: nobody has looked whether that row was altered, or is
  /// meant by the rest of the query.
  ///
  /// - Returns: nil where only a walk over all items could tell.
  func newestMark(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> String? {
    try KeychainError.wrap("searching") {
      if access == .readOnly { try keys.learnIndexKeys(in: tx) }
      guard case .first(let values, _) = try plan(query, keys.index, in: tx) else { return nil }
      // One for each key of the index, while it is being renewed.
      let newest = try values.compactMap { value in
        try tx.first(
          "SELECT id, uuid, version FROM items WHERE index_1 = ? ORDER BY id DESC LIMIT 1",
          .blob(value)
        ) { row in
          (row: row.integer(0), mark: "\(row.blob(1).hexadecimal).\(row.integer(2))")
        }
      }
      return newest.max { $0.row < $1.row }?.mark ?? "none"
    }
  }
}
