// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The blind index while it is being renewed: some items stand in it under the older key.
extension Keychain {
  var newestIndexKey: KeyID? { state.withLock { $0.ring.current[.blindIndex] } }

  /// Beside a process that writes, there may be index keys that came after this one was opened.
  func learnIndexKeys(in tx: ReadTransaction) throws {
    let first = Int64(KeyID(.blindIndex, epoch: 0).rawValue)
    let ids = try tx.all(
      "SELECT id FROM keys WHERE id BETWEEN ? AND ?", .integer(first), .integer(first | 0xFF_FFFF)
    ) { KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))) }
    for id in ids { _ = try key(id, in: tx) }
  }

  /// Refuses a row whose primary key an item has that still stands in the index under an older key:
  /// there SQLite does not see the duplicate.
  func checkUnique(_ row: ItemRow, except rowID: Int64?, in tx: WriteTransaction) throws {
    let keys = state.withLock { $0.ring.indexKeys }
    guard keys.count > 1 else { return }
    for (epoch, key) in keys where epoch != row.indexEpoch {
      let index = try BlindIndex(key: key).primaryKey(of: row.form, row.metadata.attributes)
      let other = try tx.first("SELECT id FROM items WHERE primary_index = ?", .blob(index)) {
        $0.integer(0)
      }
      guard other == nil || other == rowID else {
        throw KeychainError(.duplicateItem, "there is such an item already")
      }
    }
  }
}
