// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Changes an item and returns it as it is now. What is nil stays.
  ///
  /// - Parameters:
  ///   - attributes: replace those of the same name; the others stay.
  ///   - removing: attributes that go.
  ///   - accessible: with another class the item's key is re-wrapped.
  /// - Throws: `itemNotFound`, `duplicateItem` (nothing has changed then, and the transaction can
  ///   go on), `interactionNotAllowed` when the secret or the class changes and is locked.
  @discardableResult
  package func update(
    _ item: Item, attributes: ItemAttributes? = nil,
    removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil, in tx: WriteTransaction
  ) throws(KeychainError) -> Item {
    try health.checkWritable()
    return try KeychainError.wrap("changing an item") {
      guard secret?.count ?? 0 <= NewItem.secretLimit else { throw NewItem.tooLarge("secret") }
      guard let stored = try StoredRow(item.reference, in: tx) else {
        throw KeychainError.noSuchItem()
      }
      guard let form = RowForm(rawValue: stored.form) else {
        throw health.corrupt(row: stored.rowID, "its class")
      }
      let ledger = try ledger(tx)
      var metadata = try stored.metadata.withUnsafeBytes { sealed in
        try openMetadata(
          sealed, row: stored.rowID, id: stored.id, form: form, version: stored.version, in: tx)
      }
      let isMoved = accessible.map { $0 != metadata.accessible } ?? false
      metadata.change(attributes ?? [:], removing: removing, now: options.now())
      metadata.accessible = accessible ?? metadata.accessible
      if secret != nil { metadata.secretVersion = stored.version + 1 }
      var row = ItemRow(
        id: stored.id, itemClass: form.itemClass, version: stored.version + 1, metadata: metadata)
      try sealMetadata(of: &row, ledger, in: tx)
      let classKey =
        secret != nil || isMoved
        ? try classKey(metadata.accessible, ledger, in: tx) : nil
      if let secret, let classKey {
        // A new secret gets a new key: so the old one's is gone with its wrapping.
        try withScratchMemory(KeyArena.keyLength) { itemKey in
          RandomBytes.fill(itemKey)
          let itemKey = UnsafeRawBufferPointer(itemKey)
          try row.sealSecret(of: storeID, secret, itemKey: itemKey)
          try row.wrap(of: storeID, itemKey: itemKey, by: classKey)
        }
      } else if let classKey {
        row.secretTag = stored.secretTag
        try stored.wrappedKey.withUnsafeBytes { wrapped in
          try withItemKey(
            wrapped, row: stored.rowID, id: stored.id, classKey: stored.classKey, in: tx
          ) { try row.wrap(of: storeID, itemKey: $0, by: classKey) }
        }
      } else {
        row.secretTag = stored.secretTag
        (row.classKey, row.wrappedKey) = (stored.classKey, stored.wrappedKey)
      }
      try write(row, over: stored, in: tx)
      try ledger.remove(stored.manifestElement)
      try ledger.insert(row.manifestElement(rowID: stored.rowID))
      if secret != nil || isMoved { ledger.owesErasure = true }
      let item = row.item(rowID: stored.rowID)
      auditLog.note(secret == nil ? .changed : .secretChanged, item, ledger)
      return item
    }
  }

  private func write(_ row: ItemRow, over stored: StoredRow, in tx: WriteTransaction) throws {
    // Only when needed, because SQLite rewrites the indexes of whatever a statement names; and
    // first, because it alone can meet a duplicate.
    guard
      row.primaryIndex != stored.primaryIndex || row.index1 != stored.index1
        || row.index2 != stored.index2 || row.indexEpoch != stored.indexEpoch
    else { return try writeParts(row, rowID: stored.rowID, in: tx) }
    try tx.savepoint {
      try tx.execute(
        "UPDATE items SET index_epoch = ?, primary_index = ?, index_1 = ?, index_2 = ? WHERE id = ?",
        .integer(Int64(row.indexEpoch)), .blob(row.primaryIndex), .optional(row.index1),
        .optional(row.index2), .integer(stored.rowID))
      try writeParts(row, rowID: stored.rowID, in: tx)
    }
  }

  private func writeParts(_ row: ItemRow, rowID: Int64, in tx: WriteTransaction) throws {
    if row.sealedSecret.isEmpty {
      try tx.execute(
        """
        UPDATE items SET class = ?, version = ?, class_key = ?, wrapped_key = ?, metadata = ?
        WHERE id = ?
        """,
        .integer(Int64(row.form.rawValue)), .integer(row.version),
        .integer(Int64(row.classKey.rawValue)), .blob(row.wrappedKey), .blob(row.sealedMetadata),
        .integer(rowID))
    } else {
      try tx.execute(
        """
        UPDATE items SET class = ?, version = ?, class_key = ?, wrapped_key = ?, metadata = ?,
          secret = ?
        WHERE id = ?
        """,
        .integer(Int64(row.form.rawValue)), .integer(row.version),
        .integer(Int64(row.classKey.rawValue)), .blob(row.wrappedKey), .blob(row.sealedMetadata),
        .blob(row.sealedSecret), .integer(rowID))
    }
  }
}

extension ItemMetadata {
  /// Merges `changes`; the date of the last change is stamped unless it is among them.
  fileprivate mutating func change(
    _ changes: ItemAttributes, removing: Set<ItemAttribute>, now: Int64
  ) {
    for attribute in removing { attributes[attribute] = nil }
    attributes[.modificationDate] = .date(microseconds: now)
    for (attribute, value) in changes { attributes[attribute] = value }
  }
}
