// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Whole classes. Items "when passcode set" need a passphrase slot, and go with the last one.
extension ItemTable {
  /// Deletes the items "when passcode set" and their keys.
  func deletePasscodeItems(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try deleteClass(.whenPasscodeSetThisDeviceOnly, ledger, in: tx)
    audit.note(.deleted, "the items and keys \"when passcode set\"", ledger)
  }

  /// Deletes the items of a class, and its keys. Returns how many items it were.
  @discardableResult
  func deleteClass(
    _ accessible: Accessibility, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> Int {
    let purpose = accessible.keyPurpose
    let first = Int64(KeyID(purpose, epoch: 0).rawValue)
    let last = Int64(KeyID(purpose, epoch: .max).rawValue)
    let items = try tx.all(
      "SELECT id, uuid FROM items WHERE class_key BETWEEN ? AND ?", .integer(first), .integer(last)
    ) { row in row.withBlob(1) { ItemID($0) }.map { ItemReference(rowID: row.integer(0), id: $0) } }
    for case let reference? in items {
      guard let stored = try StoredRow(reference, in: tx) else { continue }
      try remove(stored, ledger, in: tx)
    }
    let records = try tx.all(
      "SELECT id, wrapped FROM keys WHERE id BETWEEN ? AND ?", .integer(first), .integer(last)
    ) {
      (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), $0.blob(1))
    }
    for (id, wrapped) in records {
      try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
      ledger.newKeys[id] = nil
    }
    ledger.owesErasure = true
    tx.onCommit("class \(purpose.rawValue)") { self.keys.forget(purpose) }
    return items.count
  }
}
