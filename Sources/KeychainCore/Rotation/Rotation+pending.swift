// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension Rotation {
  /// Whether a rotation was begun and has not removed the old keys yet. Those of damaged items stay: of them
  /// this process knows when it has seen a rotation to its end.
  func isPending() throws(KeychainError) -> Bool {
    let left = left
    return try transactions.read { tx in
      let first = Int64(KeyID(.metadata, epoch: 0).rawValue)
      let count = try tx.first(
        "SELECT count(*) FROM keys WHERE id BETWEEN ? AND ?", .integer(first),
        .integer(first | 0xFF_FFFF)
      ) { $0.integer(0) }
      guard count ?? 0 > 1 else { return false }
      return try left?.keys != newestKeys(in: tx)
    }
  }

  /// Whether items that were locked, or without their device key, when a rotation came to them can be
  /// opened now: they still stand under older keys of their class, or under one that was carried. Looks at
  /// every row, but not for those that the last rotation of this process has found damaged.
  func isOwed() throws(KeychainError) -> Bool {
    let damaged = left?.damagedRows ?? []
    return try transactions.read { tx in
      let classes = Accessibility.allCases.map(\.keyPurpose).filter {
        $0.isOfSession || $0.accessibility?.isThisDeviceOnly == true
      }
      return try classes.contains { purpose in
        guard let newest = try KeyTable.newest(purpose, in: tx),
          (try? keys.key(newest, in: tx)) != nil
        else {
          return false
        }
        let isCarried = try KeyTable.carried(purpose, in: tx) != nil
        var isOwed = false
        try tx.forEach(
          "SELECT id FROM items WHERE class_key BETWEEN ? AND ?",
          bound: [
            .integer(Int64(KeyID(purpose, epoch: 0).rawValue)),
            .integer(Int64(newest.rawValue) - (isCarried ? 0 : 1)),
          ]
        ) { row in
          isOwed = !damaged.contains(row.integer(0))
          return !isOwed
        }
        return isOwed
      }
    }
  }
}
