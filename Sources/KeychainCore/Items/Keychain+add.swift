// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Adds an item and returns it as it was stored.
  ///
  /// - Throws: `duplicateItem` when its primary key is taken (the transaction can go on),
  ///   `interactionNotAllowed` when its class is locked, `dataTooLarge`.
  @discardableResult
  package func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try checkWritable()
    return try KeychainError.wrap("adding an item") {
      guard new.secret.count <= NewItem.secretLimit else { throw Self.tooLarge("secret") }
      let ledger = try ledgerForChange(tx)
      let classKey = try classKey(new.accessible, in: tx)
      var attributes = new.attributes
      let now = options.now()
      if attributes[.creationDate] == nil { attributes[.creationDate] = .date(microseconds: now) }
      if attributes[.modificationDate] == nil {
        attributes[.modificationDate] = .date(microseconds: now)
      }
      let metadata = ItemMetadata(
        accessible: new.accessible, secretVersion: 1, attributes: attributes)
      return try withScratchMemory(16 + 32) { random in
        RandomOctets.fill(random)
        let random = UnsafeRawBufferPointer(random)
        guard let id = ItemID(UnsafeRawBufferPointer(rebasing: random[..<16])) else {
          throw SodiumError.notInitialized
        }
        let itemKey = UnsafeRawBufferPointer(rebasing: random[16..<48])
        var row = ItemRow(id: id, itemClass: new.itemClass, version: 1, metadata: metadata)
        try row.sealMetadata(self, in: tx)
        try checkUnique(row, except: nil, in: tx)
        try row.sealSecret(self, new.secret, itemKey: itemKey)
        try row.wrap(self, itemKey: itemKey, by: classKey)
        try tx.execute(
          """
          INSERT INTO items (uuid, class, version, class_key, index_epoch, primary_index, index_1,
            index_2, wrapped_key, metadata, secret)
          VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
          .blob(id.octets), .integer(Int64(row.form.rawValue)),
          .integer(Int64(row.classKey.rawValue)), .integer(Int64(row.indexEpoch)),
          .blob(row.primaryIndex), .optional(row.index1), .optional(row.index2),
          .blob(row.wrappedKey), .blob(row.sealedMetadata), .blob(row.sealedSecret))
        let rowID = tx.lastInsertedRowID
        try ledger.insert(row.manifestElement(rowID: rowID))
        let item = row.item(rowID: rowID)
        note(.added, item, ledger)
        return item
      }
    }
  }

  static func tooLarge(_ what: String) -> KeychainError {
    KeychainError(.dataTooLarge, "the \(what) of an item is larger than the store takes")
  }
}
