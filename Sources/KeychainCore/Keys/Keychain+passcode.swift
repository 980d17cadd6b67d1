// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Items "when passcode set": they need a passphrase slot, and die with the last one.
extension Keychain {
  /// The key for new items of a class.
  ///
  /// - Throws: `interactionNotAllowed` when the class is locked, `authFailed` when it needs a
  ///   passphrase and none is set.
  func classKey(
    _ accessible: Accessibility, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    if accessible == .whenPasscodeSetThisDeviceOnly {
      guard try KeySlotRow.all(in: tx).contains(where: { $0.row.slot.kind == .passphrase }) else {
        throw KeychainError(
          .authFailed, "such items need a passphrase, and none is set: add one to the store")
      }
    }
    return try currentKey(accessible.keyPurpose, in: tx)
  }

  /// Deletes the items "when passcode set" and their keys.
  func deletePasscodeItems(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try deleteClass(.whenPasscodeSetThisDeviceOnly, ledger, in: tx)
    note(.deleted, "the items and keys \"when passcode set\"", ledger)
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
      try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
      try ledger.remove(stored.manifestElement)
    }
    let keys = try tx.all(
      "SELECT id, wrapped FROM keys WHERE id BETWEEN ? AND ?", .integer(first), .integer(last)
    ) {
      (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), $0.blob(1))
    }
    for (id, wrapped) in keys {
      try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(id.rawValue)))
      try ledger.remove(.key(id, tag: wrapped.tag))
      ledger.newKeys[id] = nil
    }
    ledger.owesErasure = true
    tx.onCommit("class \(purpose.rawValue)") { self.state.withLock { $0.ring.forget(purpose) } }
    return items.count
  }
}
