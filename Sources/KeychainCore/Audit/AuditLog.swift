import SQLiteDatabase
import SodiumCrypto

/// The audit: lines are noted in a transaction's ledger, and appended as records when it commits.
final class AuditLog: Sendable {
  private let store: StoreID
  private let keys: KeyRing
  private let options: KeychainOptions

  init(store: StoreID, keys: KeyRing, options: KeychainOptions) {
    (self.store, self.keys, self.options) = (store, keys, options)
  }

  var isKept: Bool { options.auditor != nil }

  func note(_ action: AuditAction, _ subject: @autoclosure () -> String, _ ledger: ChangeLedger) {
    if isKept { ledger.audit.add(action, subject()) }
  }

  /// The subject is the item's class, what names it, and the group.
  func note(_ action: AuditAction, _ item: Item, _ ledger: ChangeLedger) {
    guard isKept else { return }
    let names: [ItemAttribute] =
      switch item.itemClass {
      case .genericPassword: [.service, .account]
      case .internetPassword: [.server, .account]
      case .certificate, .key: [.label]
      }
    let words = names.compactMap { item[$0]?.string }.filter { !$0.isEmpty }
    ledger.audit.add(action, ([item.itemClass.code] + words + ["(\(item.accessGroup))"]).joined(separator: " "))
  }

  /// Appends the transaction's records, before the manifest is written. The manifest counts the last
  /// one, which is linked to all before it.
  func append(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    guard let auditor = options.auditor, !ledger.audit.isEmpty else { return }
    let (id, root) = try keys.current(.audit, ledger, in: tx)
    let key = try AuditKey(id, root, in: keys.arena)
    let last = try AuditRow.last(in: tx)
    let rows = try ledger.audit.rows(after: last, by: auditor, at: options.now(), store: store, key: key)
    for row in rows {
      try tx.execute("INSERT INTO audit (id, sealed) VALUES (?, ?)", .integer(row.number), .blob(row.sealed))
    }
    if let last { try ledger.remove(last.manifestElement) }
    if let new = rows.last { try ledger.insert(new.manifestElement) }
  }
}

extension Keychain {
  /// Names whom the changes in the rest of this transaction are made for.
  package func act(as actor: String, in tx: WriteTransaction) { ChangeLedger.of(tx).audit.actor = actor }

  /// Adds a line about something that is no change of an item.
  ///
  /// - Parameter subject: never a secret. Its first 300 bytes are kept.
  package func note(_ action: AuditAction, _ subject: @autoclosure () -> String, in tx: WriteTransaction)
    throws(KeychainError)
  {
    guard auditLog.isKept else { return }
    try checkWritable()
    try KeychainError.wrap("writing the audit") { auditLog.note(action, subject(), try ledger(tx)) }
  }

  /// The number of the last record; 0 when there is none.
  package func lastAuditRecord() throws(KeychainError) -> Int64 {
    try KeychainError.wrap("reading the audit") { try database.read { try AuditRow.last(in: $0)?.number ?? 0 } }
  }

  /// Gives each record after `number` to `body`, oldest first and at most `limit` of them, and compares it with the one
  /// before.
  ///
  /// - Throws: `decode` at the first that is missing, altered or not in its place; what `body` throws.
  package func forEachAuditRecord(after number: Int64 = 0, limit: Int = .max, _ body: (AuditRecord) throws -> Void)
    throws(KeychainError)
  {
    try KeychainError.wrap("reading the audit") {
      try database.read { tx in
        var previous = number > 0 ? try AuditRow.find(number, in: tx) : nil
        guard number == 0 || previous != nil else { throw AuditRow.missing(number) }
        var expected = (previous?.number ?? 0) + 1
        try tx.forEach(
          "SELECT id, sealed FROM audit WHERE id > ? ORDER BY id LIMIT ?",
          bound: [.integer(number), .integer(Int64(limit))]
        ) { row in
          let found = try AuditRow(stored: row.integer(0), sealed: row.blob(1))
          guard found.number == expected else { throw AuditRow.missing(expected) }
          try body(record(found, after: previous, in: tx))
          previous = found
          expected += 1
          return true
        }
      }
    }
  }

  private func record(_ row: AuditRow, after previous: AuditRow?, in tx: ReadTransaction) throws -> AuditRecord {
    let record = try row.opened(after: previous, store: storeID) { id in
      try AuditKey(id, keys.key(id, in: tx), in: keys.arena)
    }
    // Who has an older key could write records under it, but not under the newer one.
    guard try Self.epoch(of: row) >= previous.map(Self.epoch) ?? 0 else {
      throw row.broken("is under an older key than the one before it")
    }
    return record
  }

  private static func epoch(of row: AuditRow) throws -> UInt32 {
    try row.sealed.withUnsafeBytes { try SealedPart.keyID(of: $0) }.epoch
  }
}
