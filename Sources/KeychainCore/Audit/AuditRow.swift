// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// A record as it lies in the table.
struct AuditRow {
  let number: Int64
  let sealed: [UInt8]

  var manifestElement: ManifestElement { .audit(number: number, tag: sealed.tag) }

  /// False in a store of before, as long as it is only read.
  static func isThere(in tx: ReadTransaction) throws -> Bool {
    try tx.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit'") { _ in true
    }
      == true
  }

  static func last(in tx: ReadTransaction) throws -> AuditRow? {
    guard try isThere(in: tx) else { return nil }
    return try tx.first("SELECT id, sealed FROM audit ORDER BY id DESC LIMIT 1") {
      AuditRow(number: $0.integer(0), sealed: $0.blob(1))
    }
  }

  static func find(_ number: Int64, in tx: ReadTransaction) throws -> AuditRow? {
    try tx.first("SELECT id, sealed FROM audit WHERE id = ?", .integer(number)) {
      AuditRow(number: $0.integer(0), sealed: $0.blob(1))
    }
  }
}
