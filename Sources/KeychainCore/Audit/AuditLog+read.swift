// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension AuditLog {
  /// The number of the last record; 0 when there is none.
  func lastRecord(in database: SQLiteDatabase) throws(KeychainError) -> Int64 {
    try KeychainError.wrap("reading the audit") {
      try database.read { try AuditRow.last(in: $0)?.number ?? 0 }
    }
  }

  /// Gives each record after `number` to `body`, oldest first and at most `limit` of them, and compares it with the one
  /// before.
  ///
  /// - Throws: `decode` at the first that is missing, altered or not in its place; what `body` throws.
  func forEachRecord(
    after number: Int64, limit: Int = .max, in database: SQLiteDatabase,
    _ body: (AuditRecord) throws -> Void
  ) throws(KeychainError) {
    try KeychainError.wrap("reading the audit") {
      try database.read { tx in
        var previous = number > 0 ? try AuditRow.find(number, in: tx) : nil
        guard number == 0 || previous != nil else { throw Self.broken(number, "is missing") }
        var expected = number + 1
        try tx.forEach(
          "SELECT id, sealed FROM audit WHERE id > ? ORDER BY id LIMIT ?",
          bound: [.integer(number), .integer(Int64(limit))]
        ) { row in
          let found = AuditRow(number: row.integer(0), sealed: row.blob(1))
          guard found.number == expected else { throw Self.broken(expected, "is missing") }
          try body(record(found, after: previous, in: tx))
          previous = found
          expected += 1
          return true
        }
      }
    }
  }

  private func record(
    _ row: AuditRow, after previous: AuditRow?, in tx: ReadTransaction
  ) throws -> AuditRecord {
    let opened: (record: AuditRecord, link: [UInt8])?
    let link: [UInt8]
    do {
      let id = try row.sealed.withUnsafeBytes { try SealedPart.keyID(of: $0) }
      guard id.purpose == .audit else { throw SodiumError.notAuthentic }
      let key = try AuditKey(id, keys.key(id, in: tx), in: keys.arena)
      opened = AuditRecord.decode(
        try key.open(row.sealed, number: row.number, store: store), number: row.number)
      link = try key.link(to: previous?.sealed)
    } catch is SodiumError {
      throw Self.broken(row.number, "was altered, or belongs elsewhere")
    } catch let error as KeychainError where error.status == .decode {
      throw Self.broken(row.number, "was altered, or its key is missing")
    }
    guard let opened else { throw Self.broken(row.number, "is of another form") }
    // Who has an older key could write records under it, but not under the newer one.
    guard try Self.epoch(of: row) >= previous.map(Self.epoch) ?? 0 else {
      throw Self.broken(row.number, "is under an older key than the one before it")
    }
    guard opened.link == link else {
      throw Self.broken(row.number, "does not follow the one before it")
    }
    return opened.record
  }

  private static func epoch(of row: AuditRow) throws -> UInt32 {
    try row.sealed.withUnsafeBytes { try SealedPart.keyID(of: $0) }.epoch
  }

  private static func broken(_ number: Int64, _ what: String) -> KeychainError {
    KeychainError(.decode, "record \(number) of the audit \(what)")
  }
}
