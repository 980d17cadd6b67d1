import SQLiteDatabase
import SodiumCrypto

/// Changes items. Every change goes into the transaction's ledger, with its line for the audit.
extension Keychain {
  /// Adds an item and returns it as it was stored.
  ///
  /// - Throws: `duplicateItem` when its primary key is taken (the transaction can go on),
  ///   `interactionNotAllowed` when its class is locked, `dataTooLarge`.
  @discardableResult package func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try health.checkWritable()
    return try KeychainError.wrap("adding an item") {
      guard new.secret.count <= NewItem.secretLimit else { throw NewItem.tooLarge("secret") }
      let ledger = try ledger(tx)
      let classKey = try classKey(new.accessible, ledger, in: tx)
      var attributes = new.attributes
      let now = options.now()
      if attributes[.creationDate] == nil { attributes[.creationDate] = .date(microseconds: now) }
      if attributes[.modificationDate] == nil { attributes[.modificationDate] = .date(microseconds: now) }
      // The name and two nonces at once: to draw them takes a system call each time.
      return try withScratchMemory(16 + 2 * XChaCha20Poly1305.nonceLength) { random in
        RandomBytes.fill(random)
        var drawn = RowReader(UnsafeRawBufferPointer(random))
        var item = Item(
          rowID: 0, id: try drawn.name(), itemClass: new.itemClass, accessible: new.accessible, attributes: attributes,
          version: 1)
        try write(&item, over: nil, (new.secret, classKey), nonces: drawn.rest, ledger, in: tx)
        auditLog.note(.added, item, ledger)
        return item
      }
    }
  }

  /// The key for new items of a class.
  ///
  /// - Throws: `interactionNotAllowed` when the class is locked, `authFailed` when it needs a
  ///   passphrase and none is set.
  func classKey(_ accessible: Accessibility, _ ledger: ChangeLedger, in tx: WriteTransaction) throws -> RootKeys.Root {
    if accessible == .whenPasscodeSetThisDeviceOnly {
      guard try KeySlot.all(in: tx).contains(where: { $0.kind == .passphrase }) else {
        throw KeychainError(.authFailed, "such items need a passphrase, and none is set: add one to the store")
      }
    }
    return try keys.current(accessible.keyPurpose, ledger, in: tx)
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
  @discardableResult func deleteClass(_ accessible: Accessibility, _ ledger: ChangeLedger, in tx: WriteTransaction)
    throws -> Int
  {
    let purpose = accessible.keyPurpose
    let rows = try tx.all("SELECT id FROM items WHERE class_key BETWEEN ? AND ?", purpose.firstID, purpose.lastID) {
      $0.integer(0)
    }
    for rowID in rows { if let row = try row(rowID, in: tx, { row, _ in row }) { try remove(row, ledger, in: tx) } }
    let records = try KeyTable.records(in: tx).filter { $0.id.purpose == purpose }
    for (id, wrapped) in records {
      try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
      ledger.newKeys[id] = nil
    }
    ledger.owesErasure = true
    tx.onCommit("class \(purpose.rawValue)") { [keys, erasure] in
      keys.forget(purpose)
      erasure.retire(records.map(\.id))
    }
    return rows.count
  }
}

extension Keychain {
  /// Deletes an item.
  ///
  /// - Throws: `itemNotFound` when it is gone already.
  package func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try health.checkWritable()
    try KeychainError.wrap("deleting an item") {
      guard let row = try row(item.rowID, in: tx, { row, _ in row }), row.id == item.id else {
        throw KeychainError.noSuchItem()
      }
      let ledger = try ledger(tx)
      try remove(row, ledger, in: tx)
      auditLog.note(.deleted, item, ledger)
      ledger.owesErasure = true
    }
  }

  private func remove(_ row: ItemRow, _ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM items WHERE id = ?", .integer(row.rowID))
    try ledger.remove(.item(row))
  }
}

extension KeychainError {
  static func noSuchItem() -> KeychainError { KeychainError(.itemNotFound, "there is no such item any more") }
}

extension Keychain {
  /// Changes an item and returns it as it is now. What is nil stays.
  ///
  /// - Parameters:
  ///   - attributes: replace those of the same name; the others stay.
  ///   - removing: attributes that go.
  ///   - accessible: by the key of another class the secret is sealed again.
  /// - Throws: `itemNotFound`, `duplicateItem` (nothing has changed then, and the transaction can
  ///   go on), `interactionNotAllowed` when the secret or the class changes and is locked.
  @discardableResult package func update(
    _ item: Item, attributes: ItemAttributes? = nil, removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil, in tx: WriteTransaction
  ) throws(KeychainError) -> Item {
    try health.checkWritable()
    return try KeychainError.wrap("changing an item") {
      guard secret?.count ?? 0 <= NewItem.secretLimit else { throw NewItem.tooLarge("secret") }
      let stored = try row(item.rowID, in: tx) { row, columns in (try self.item(from: columns, in: tx), row) }
      guard case (let before, let old)? = stored, old.id == item.id else { throw KeychainError.noSuchItem() }
      let ledger = try ledger(tx)
      var now = before
      now.change(attributes ?? [:], removing: removing, now: options.now())
      now.accessible = accessible ?? now.accessible
      now.version += 1
      if secret != nil || now.accessible != before.accessible {
        now.secretVersion = now.version
        let classKey = try classKey(now.accessible, ledger, in: tx)
        let secret = try secret ?? self.secret(of: before, in: tx)
        try write(&now, over: old, (secret, classKey), ledger, in: tx)
        ledger.owesErasure = true
      } else {
        try write(&now, over: old, nil, ledger, in: tx)
      }
      auditLog.note(secret == nil ? .changed : .secretChanged, now, ledger)
      return now
    }
  }
}

extension Item {
  /// Merges `changes`; the date of the last change is stamped unless it is among them.
  fileprivate mutating func change(_ changes: ItemAttributes, removing: Set<ItemAttribute>, now: Int64) {
    for attribute in removing { attributes[attribute] = nil }
    attributes[.modificationDate] = .date(microseconds: now)
    for (attribute, value) in changes { attributes[attribute] = value }
  }
}
