// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// An export: all items but those for this device only, sealed with a passphrase of its own.
struct ItemExport {
  let items: ItemTable
  let transactions: StoreTransactions
  let verifier: StoreVerifier
  let options: KeychainOptions

  /// Items of classes that are locked now, which an export cannot have. Those for this device only are
  /// none of them.
  func lockedItems() throws(KeychainError) -> Int {
    try transactions.read { tx in
      guard !items.keys.isUnlocked else { return 0 }
      return try tx.all("SELECT class_key, count(*) FROM items GROUP BY class_key") {
        (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), Int($0.integer(1)))
      }.reduce(0) { sum, found in
        let accessible = found.0.purpose.accessibility
        guard let accessible, accessible.wrapper == .session, !accessible.isThisDeviceOnly else {
          return sum
        }
        return sum + found.1
      }
    }
  }

  /// Writes all items but those for this device only into an empty file, sealed with a passphrase of its own
  /// and with nothing else: neither the store's keys nor its device key are needed to read it. Others use
  /// the store meanwhile; what is exported is one moment of it.
  ///
  /// The audit names it before the first byte is written, and again when the file is whole and on the disk.
  ///
  /// - Parameters:
  ///   - descriptor: of the file, which stays open.
  ///   - name: of the file, for words.
  ///   - actor: who asks for it, for the audit; nil: the keychain's own auditor.
  ///   - progress: told the items that are done and how many there are; what it throws ends the export.
  /// - Throws: `interactionNotAllowed` when items are locked; `readOnly` for a store that is not what it
  ///   should be; `diskFull`, `io`. The file is worth nothing then.
  func write(
    to descriptor: Int32, name: String, passphrase: SecretBytes, actor: String?,
    progress: (_ done: Int, _ total: Int) throws -> Void
  ) throws(KeychainError) -> ExportReport {
    if items.health.condition == .healthy { try verifier.verify(.manifest) }
    if case .readOnly(let reason) = items.health.condition {
      throw KeychainError(.readOnly, "what this store has is not exported: \(reason)")
    }
    let locked = try lockedItems()
    guard locked == 0 else { throw KeychainError.lockedItems(locked, "exported") }
    return try KeychainError.wrap("writing the export") {
      let file = try FileBytes(name, openAs: descriptor)
      guard try file.length() == 0 else {
        throw KeychainError(.param, "\(name) is not empty")
      }
      // Before the first byte: who breaks off has what was written until then.
      try note(.exportBegun, "an export to \(name) is begun", for: actor)
      var report = ExportReport(store: items.store)
      let writer = try ExportWriter(
        file, passphrase: passphrase, cost: options.passwordHash, store: items.store,
        created: options.now(), arena: items.keys.arena)
      try transactions.read { tx in
        let total = try items.search.count(of: nil, in: tx)
        try tx.forEach(
          """
          SELECT id, uuid, class, version, metadata, class_key, wrapped_key, secret
          FROM items ORDER BY id
          """, bound: []
        ) { row in
          try add(row, to: writer, &report, in: tx)
          try progress(report.done, total)
          return true
        }
        guard report.done == total else {
          throw KeychainError(
            .decode, "the store has \(report.done) items, and should have \(total)")
        }
      }
      try writer.finish(report.end)
      report.bytes = writer.length
      // Before anybody sees the file.
      try note(.exported, "\(report.items) items to \(name)", for: actor)
      return report
    }
  }

  private func note(_ action: AuditAction, _ subject: String, for actor: String?) throws {
    try transactions.write { try items.changes.note(action, subject, for: actor, in: $0) }
  }

  private func add(
    _ row: SQLiteRow, to writer: ExportWriter, _ report: inout ExportReport, in tx: ReadTransaction
  ) throws {
    do {
      let item = try items.reader.item(from: row, in: tx)
      guard !item.accessible.isThisDeviceOnly else {
        report.notInExport[item.accessible, default: 0] += 1
        return
      }
      let secret = try items.reader.openSecret(
        of: item, version: item.secretVersion, from: row, at: 5, in: tx)
      var record = ExportRecord.encode(item, secret)
      try writer.add(&record)
      report.items += 1
    } catch let error as KeychainError where error.status == .decode {
      report.damaged += 1
    }
  }
}

extension KeychainError {
  static func lockedItems(_ count: Int, _ what: String) -> KeychainError {
    KeychainError(
      .interactionNotAllowed,
      "\(count) items \"when unlocked\" cannot be \(what): the store is locked. Nothing was done")
  }
}

extension ExportReport {
  fileprivate var done: Int { items + damaged + notInExport.values.reduce(0, +) }

  fileprivate var end: ExportEnd {
    ExportEnd(
      items: UInt64(items), damaged: UInt64(damaged),
      notInExport: notInExport.mapValues { UInt64($0) })
  }
}
