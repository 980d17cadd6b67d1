// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// A record as it lies in the table.
struct AuditRow {
  let number: Int64
  let sealed: [UInt8]

  var manifestElement: ManifestElement { .audit(number: number, tag: sealed.tag) }

  static func last(in tx: ReadTransaction) throws -> AuditRow? {
    try tx.first("SELECT id, sealed FROM audit ORDER BY id DESC LIMIT 1") {
      AuditRow(number: $0.integer(0), sealed: $0.blob(1))
    }
  }

  static func find(_ number: Int64, in tx: ReadTransaction) throws -> AuditRow? {
    try tx.first("SELECT id, sealed FROM audit WHERE id = ?", .integer(number)) {
      AuditRow(number: $0.integer(0), sealed: $0.blob(1))
    }
  }
}
