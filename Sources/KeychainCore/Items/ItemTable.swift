// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Changes items. Every change goes into the transaction's ledger, with its line for the audit.
extension Keychain {
  /// Adds an item and returns it as it was stored.
  ///
  /// - Throws: `duplicateItem` when its primary key is taken (the transaction can go on),
  ///   `interactionNotAllowed` when its class is locked, `dataTooLarge`.
  @discardableResult
  package func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try health.checkWritable()
    return try KeychainError.wrap("adding an item") {
      guard new.secret.count <= NewItem.secretLimit else { throw NewItem.tooLarge("secret") }
      let ledger = try ledger(tx)
      let classKey = try classKey(new.accessible, ledger, in: tx)
      var attributes = new.attributes
      let now = options.now()
      if attributes[.creationDate] == nil { attributes[.creationDate] = .date(microseconds: now) }
      if attributes[.modificationDate] == nil {
        attributes[.modificationDate] = .date(microseconds: now)
      }
      let metadata = ItemMetadata(
        accessible: new.accessible, secretVersion: 1, attributes: attributes)
      // The name, the key and three nonces at once: to draw them takes a system call each time.
      return try withScratchMemory(16 + 32 + 3 * XChaCha20Poly1305.nonceLength) { random in
        RandomBytes.fill(random)
        func drawn(_ place: Range<Int>) -> UnsafeRawBufferPointer {
          UnsafeRawBufferPointer(rebasing: random[place])
        }
        guard let id = ItemID(drawn(0..<16)) else { throw SodiumError.notInitialized }
        let itemKey = drawn(16..<48)
        var row = ItemRow(id: id, itemClass: new.itemClass, version: 1, metadata: metadata)
        try sealMetadata(of: &row, ledger, in: tx, nonce: drawn(48..<72))
        try row.sealSecret(of: storeID, new.secret, itemKey: itemKey, nonce: drawn(72..<96))
        try row.wrap(of: storeID, itemKey: itemKey, by: classKey, nonce: drawn(96..<120))
        try tx.execute(
          """
          INSERT INTO items (uuid, class, version, class_key, index_epoch, primary_index, index_1,
            index_2, wrapped_key, metadata, secret)
          VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
          .blob(id.bytes), .integer(Int64(row.itemClass.rawValue)),
          .integer(Int64(row.classKey.rawValue)), .integer(Int64(row.indexEpoch)),
          .blob(row.primaryIndex), .optional(row.index1), .optional(row.index2),
          .blob(row.wrappedKey), .blob(row.sealedMetadata), .blob(row.sealedSecret))
        let rowID = tx.lastInsertedRowID
        try ledger.insert(row.manifestElement(rowID: rowID))
        let item = row.item(rowID: rowID)
        auditLog.note(.added, item, ledger)
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
    of row: inout ItemRow, _ ledger: ChangeLedger, in tx: WriteTransaction,
    nonce: UnsafeRawBufferPointer? = nil
  ) throws {
    let metadataKey = try keys.current(.metadata, ledger, in: tx)
    let indexKey = try keys.current(.blindIndex, ledger, in: tx)
    try row.sealMetadata(of: storeID, metadataKey, indexKey, nonce: nonce)
  }
}

/// Whole classes. Items "when passcode set" need a passphrase slot, and go with the last one.
extension Keychain {
  /// Deletes the items "when passcode set" and their keys.
  func deletePasscodeItems(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try deleteClass(.whenPasscodeSetThisDeviceOnly, ledger, in: tx)
    auditLog.note(.deleted, "the items and keys \"when passcode set\"", ledger)
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
    tx.onCommit("class \(purpose.rawValue)") { [keys, erasure] in
      keys.forget(purpose)
      erasure.retire(records.map(\.0))
    }
    return items.count
  }
}

extension Keychain {
  /// Deletes an item.
  ///
  /// - Throws: `itemNotFound` when it is gone already.
  package func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try health.checkWritable()
    try KeychainError.wrap("deleting an item") {
      guard let stored = try StoredRow(item.reference, in: tx) else {
        throw KeychainError.noSuchItem()
      }
      let ledger = try ledger(tx)
      try remove(stored, ledger, in: tx)
      auditLog.note(.deleted, item, ledger)
      ledger.owesErasure = true
    }
  }

  func remove(_ stored: StoredRow, _ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
  }
}

extension KeychainError {
  static func noSuchItem() -> KeychainError {
    KeychainError(.itemNotFound, "there is no such item any more")
  }
}

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
      guard let itemClass = ItemClass(rawValue: stored.itemClass) else {
        throw health.corrupt(row: stored.rowID, "its class")
      }
      let ledger = try ledger(tx)
      var metadata = try stored.metadata.withUnsafeBytes { sealed in
        try openMetadata(
          sealed, row: stored.rowID, id: stored.id, itemClass, version: stored.version, in: tx)
      }
      let isMoved = accessible.map { $0 != metadata.accessible } ?? false
      metadata.change(attributes ?? [:], removing: removing, now: options.now())
      metadata.accessible = accessible ?? metadata.accessible
      if secret != nil { metadata.secretVersion = stored.version + 1 }
      var row = ItemRow(
        id: stored.id, itemClass: itemClass, version: stored.version + 1, metadata: metadata)
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
        .integer(Int64(row.itemClass.rawValue)), .integer(row.version),
        .integer(Int64(row.classKey.rawValue)), .blob(row.wrappedKey), .blob(row.sealedMetadata),
        .integer(rowID))
    } else {
      try tx.execute(
        """
        UPDATE items SET class = ?, version = ?, class_key = ?, wrapped_key = ?, metadata = ?,
          secret = ?
        WHERE id = ?
        """,
        .integer(Int64(row.itemClass.rawValue)), .integer(row.version),
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
