// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SQLiteDatabase

/// The filters that the broker may have of the intake's session, which it keeps over restarts.
enum IntakeFilterLedger {
  static func all(_ tx: ReadTransaction) throws -> [String] {
    try tx.all("SELECT filter FROM intake_filter ORDER BY filter") { $0.text(0) }
  }

  /// Before they are subscribed to.
  static func add(_ filters: [String], _ tx: WriteTransaction) throws {
    for filter in filters {
      try tx.execute("INSERT OR IGNORE INTO intake_filter (filter) VALUES (?)", .text(filter))
    }
  }

  /// When all others are ended.
  static func keep(only filters: [String], _ tx: WriteTransaction) throws {
    for filter in try all(tx) where !filters.contains(where: { $0.hasBytes(of: filter) }) {
      try tx.execute("DELETE FROM intake_filter WHERE filter = ?", .text(filter))
    }
  }
}
