// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Changes items. Every change goes into the transaction's ledger, with its line for the audit; finding and
/// opening is done by `ItemSearch` and `ItemReader`.
final class ItemTable: Sendable {
  let store: StoreID
  let keys: KeyRing
  let health: StoreHealth
  let reader: ItemReader
  let search: ItemSearch
  let changes: StoreChanges
  let audit: AuditLog
  /// Microseconds since 1970, for the dates of items.
  let now: @Sendable () -> Int64

  init(search: ItemSearch, changes: StoreChanges, now: @escaping @Sendable () -> Int64) {
    self.search = search
    self.changes = changes
    self.now = now
    reader = search.reader
    audit = changes.audit
    store = reader.store
    keys = reader.keys
    health = reader.health
  }

  /// Adds an item and returns it as it was stored.
  ///
  /// - Throws: `duplicateItem` when its primary key is taken (the transaction can go on),
  ///   `interactionNotAllowed` when its class is locked, `dataTooLarge`.
  func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try health.checkWritable()
    return try KeychainError.wrap("adding an item") {
      guard new.secret.count <= NewItem.secretLimit else { throw NewItem.tooLarge("secret") }
      let ledger = try changes.ledger(tx)
      let classKey = try classKey(new.accessible, ledger, in: tx)
      var attributes = new.attributes
      let now = now()
      if attributes[.creationDate] == nil { attributes[.creationDate] = .date(microseconds: now) }
      if attributes[.modificationDate] == nil {
        attributes[.modificationDate] = .date(microseconds: now)
      }
      let metadata = ItemMetadata(
        accessible: new.accessible, secretVersion: 1, attributes: attributes)
      return try withScratchMemory(16 + 32) { random in
        RandomBytes.fill(random)
        let random = UnsafeRawBufferPointer(random)
        guard let id = ItemID(UnsafeRawBufferPointer(rebasing: random[..<16])) else {
          throw SodiumError.notInitialized
        }
        let itemKey = UnsafeRawBufferPointer(rebasing: random[16..<48])
        var row = ItemRow(id: id, itemClass: new.itemClass, version: 1, metadata: metadata)
        try sealMetadata(of: &row, in: tx) { ledger }
        try checkUnique(row, except: nil, in: tx)
        try row.sealSecret(of: store, new.secret, itemKey: itemKey)
        try row.wrap(of: store, itemKey: itemKey, by: classKey)
        try tx.execute(
          """
          INSERT INTO items (uuid, class, version, class_key, index_epoch, primary_index, index_1,
            index_2, wrapped_key, metadata, secret)
          VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
          .blob(id.bytes), .integer(Int64(row.form.rawValue)),
          .integer(Int64(row.classKey.rawValue)), .integer(Int64(row.indexEpoch)),
          .blob(row.primaryIndex), .optional(row.index1), .optional(row.index2),
          .blob(row.wrappedKey), .blob(row.sealedMetadata), .blob(row.sealedSecret))
        let rowID = tx.lastInsertedRowID
        try ledger.insert(row.manifestElement(rowID: rowID))
        let item = row.item(rowID: rowID)
        audit.note(.added, item, ledger)
        return item
      }
    }
  }

  /// The key for new items of a class.
  ///
  /// - Throws: `interactionNotAllowed` when the class is locked, `authFailed` when it needs a
  ///   passphrase and none is set.
  func classKey(
    _ accessible: Accessibility, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> RootKeys.Root {
    if accessible == .whenPasscodeSetThisDeviceOnly {
      guard try KeySlotRow.all(in: tx).contains(where: { $0.row.slot.kind == .passphrase }) else {
        throw KeychainError(
          .authFailed, "such items need a passphrase, and none is set: add one to the store")
      }
    }
    return try keys.current(accessible.keyPurpose, ledger, in: tx)
  }

  func sealMetadata(
    of row: inout ItemRow, in tx: WriteTransaction, ledger: () throws -> ChangeLedger
  ) throws {
    let metadataKey = try keys.current(.metadata, in: tx, ledger: ledger)
    let indexKey = try keys.current(.blindIndex, in: tx, ledger: ledger)
    try row.sealMetadata(of: store, metadataKey, indexKey)
  }

  /// Refuses a row whose primary key an item has that still stands in the index under an older key:
  /// there SQLite does not see the duplicate.
  func checkUnique(_ row: ItemRow, except rowID: Int64?, in tx: WriteTransaction) throws {
    let index = keys.index.keys
    guard index.count > 1 else { return }
    for (epoch, key) in index where epoch != row.indexEpoch {
      let value = try BlindIndex(key: key).primaryKey(of: row.form, row.metadata.attributes)
      let other = try tx.first("SELECT id FROM items WHERE primary_index = ?", .blob(value)) {
        $0.integer(0)
      }
      guard other == nil || other == rowID else {
        throw KeychainError(.duplicateItem, "there is such an item already")
      }
    }
  }
}
