// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The audit: lines are noted in a transaction's ledger, and appended as records when it commits. Reading
/// is in `AuditLog+read`.
final class AuditLog: Sendable {
  let store: StoreID
  let keys: KeyRing
  /// Who makes the changes for which the ledger names nobody; nil: no audit is kept.
  let auditor: String?
  /// Microseconds since 1970.
  let now: @Sendable () -> Int64

  init(store: StoreID, keys: KeyRing, options: KeychainOptions) {
    self.store = store
    self.keys = keys
    auditor = options.auditor
    now = options.now
  }

  var isKept: Bool { auditor != nil }

  func note(_ action: AuditAction, _ subject: @autoclosure () -> String, _ ledger: ChangeLedger) {
    guard isKept else { return }
    ledger.audit.add(action, subject())
  }

  func note(_ action: AuditAction, _ item: Item, _ ledger: ChangeLedger) {
    note(action, Self.subject(item), ledger)
  }

  private static func subject(_ item: Item) -> String { subject(item.itemClass, item.attributes) }

  /// Class, what names the item, and the group.
  static func subject(
    _ itemClass: ItemClass, _ attributes: ItemAttributes
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
  func append(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    guard let auditor, !ledger.audit.isEmpty else { return }
    let (id, root) = try keys.current(.audit, ledger, in: tx)
    let key = try AuditKey(id, root, in: keys.arena)
    let last = try AuditRow.last(in: tx)
    var (number, sealed) = (last?.number ?? 0, last?.sealed)
    let now = now()
    for (actor, lines) in ledger.audit.byActor(auditor) {
      for start in stride(from: 0, to: lines.count, by: AuditRecord.mostLines) {
        let end = min(start + AuditRecord.mostLines, lines.count)
        number += 1
        let record = AuditRecord(
          number: number, time: now, actor: actor, lines: Array(lines[start..<end]))
        let next = try key.seal(
          record.encoded(link: key.link(to: sealed)), number: number, store: store)
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
