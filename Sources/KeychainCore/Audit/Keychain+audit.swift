// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Names whom the changes in the rest of this transaction are made for.
  package func act(as actor: String, in tx: WriteTransaction) { ledger(tx).audit.actor = actor }

  /// Puts into the audit what changes nothing in the store. Does nothing where none is kept, or where
  /// the store takes no changes.
  ///
  /// - Parameter actor: for whom; nil is the keychain's own auditor.
  package func record(
    _ action: AuditAction, _ subject: String, for actor: String? = nil
  ) throws(KeychainError) {
    guard options.auditor != nil, access != .readOnly, condition == .healthy else { return }
    try KeychainError.wrap("writing the audit") {
      try write { tx in
        if let actor { act(as: actor, in: tx) }
        note(action, subject, try ledgerForChange(tx))
      }
    }
  }

  /// Adds a line about something that is no change of an item.
  ///
  /// - Parameter subject: never a secret. Its first 300 octets are kept.
  package func note(
    _ action: AuditAction, _ subject: @autoclosure () -> String, in tx: WriteTransaction
  ) throws(KeychainError) {
    guard options.auditor != nil else { return }
    try checkWritable()
    try KeychainError.wrap("writing the audit") {
      note(action, subject(), try ledgerForChange(tx))
    }
  }

  func note(_ action: AuditAction, _ subject: @autoclosure () -> String, _ ledger: ChangeLedger) {
    guard options.auditor != nil else { return }
    ledger.audit.add(action, subject())
  }

  func note(_ action: AuditAction, _ item: Item, _ ledger: ChangeLedger) {
    note(action, Self.subject(item), ledger)
  }

  private static func subject(_ item: Item) -> String { subject(item.itemClass, item.attributes) }

  /// Class, what names the item, and the group.
  static func subject(
    _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]
  ) -> String {
    let names: [ItemAttribute] =
      switch itemClass {
      case .genericPassword: [.service, .account]
      case .internetPassword: [.server, .account]
      case .certificate, .key: [.label]
      }
    var subject = itemClass.code
    for name in names {
      guard let value = attributes[name]?.string, !value.isEmpty else { continue }
      subject += " " + value
    }
    return subject + " (" + (attributes[.accessGroup]?.string ?? "") + ")"
  }

  /// Appends the transaction's records, before the manifest is written. The manifest counts the last
  /// one, which is linked to all before it.
  func appendAudit(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    guard let auditor = options.auditor, !ledger.audit.isEmpty else { return }
    let (id, root) = try currentKey(.audit, in: tx)
    let key = try AuditKey(id, root, in: arena)
    let last = try AuditRow.last(in: tx)
    var (number, sealed) = (last?.number ?? 0, last?.sealed)
    let now = options.now()
    for (actor, lines) in ledger.audit.byActor(auditor) {
      for start in stride(from: 0, to: lines.count, by: AuditRecord.mostLines) {
        let end = min(start + AuditRecord.mostLines, lines.count)
        number += 1
        let record = AuditRecord(
          number: number, time: now, actor: actor, lines: Array(lines[start..<end]))
        let next = try key.seal(
          record.encoded(link: key.link(to: sealed)), number: number, store: storeID)
        try tx.execute(
          "INSERT INTO audit (id, sealed) VALUES (?, ?)", .integer(number), .blob(next))
        sealed = next
      }
    }
    if let last { try ledger.remove(last.manifestElement) }
    if let sealed {
      try ledger.insert(AuditRow(number: number, sealed: sealed).manifestElement)
    }
  }
}
