// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Rotation {
  /// One step of the walk: finds the next items that stand under older keys, beside everybody's work,
  /// and seals them again in one transaction.
  func renewItems(_ walk: inout RotationWalk) throws {
    try health.checkWritable()
    let found = try transactions.read { try outdatedRows(after: walk.row, in: $0) }
    if !found.isEmpty {
      let before = walk
      do {
        try transactions.write { tx in
          for row in found { try renew(row, &walk, in: tx) }
        }
      } catch {
        walk = before
        throw error
      }
    }
    walk.row = found.last?.number ?? walk.row
    walk.isOver = found.count < options.rotationBatch
  }

  private func outdatedRows(
    after row: Int64, in tx: ReadTransaction
  ) throws -> [(number: Int64, id: ItemID?)] {
    let metadataKey = try KeyTable.newest(.metadata, in: tx) ?? .none
    let indexKey = try KeyTable.newest(.blindIndex, in: tx) ?? .none
    // What a part begins with: its format and the id of its key.
    var head = [SealedPart.format]
    withUnsafeBytes(of: metadataKey.rawValue.bigEndian) { head.append(contentsOf: $0) }
    let classKeys = try Accessibility.allCases.map { accessible in
      SQLiteValue.integer(Int64(try KeyTable.newest(accessible.keyPurpose, in: tx)?.rawValue ?? 0))
    }
    var found: [(number: Int64, id: ItemID?)] = []
    try tx.forEach(
      """
      SELECT id, uuid FROM items
      WHERE id > ? AND (index_epoch <> ? OR substr(metadata, 1, 5) <> ?
        OR class_key NOT IN (?, ?, ?, ?, ?, ?, ?))
      ORDER BY id LIMIT ?
      """,
      bound: [.integer(row), .integer(Int64(indexKey.epoch)), .blob(head)] + classKeys
        + [.integer(Int64(options.rotationBatch))]
    ) { row in
      found.append((row.integer(0), row.withBlob(1) { ItemID($0) }))
      return true
    }
    return found
  }

  private func renew(
    _ row: (number: Int64, id: ItemID?), _ walk: inout RotationWalk, in tx: WriteTransaction
  ) throws {
    guard let id = row.id else {
      walk.damagedRows.insert(row.number)
      return
    }
    // It may be gone since it was found, or changed.
    guard let stored = try StoredRow(ItemReference(rowID: row.number, id: id), in: tx) else {
      return
    }
    do {
      let (renewed, isLocked) = try resealed(stored, in: tx)
      if isLocked { walk.locked += 1 }
      guard let renewed else { return }
      try write(renewed, over: stored, in: tx)
      walk.renewed += 1
    } catch let error as KeychainError where error.status == .decode {
      walk.damagedRows.insert(row.number)
    }
  }

  /// The row under the newest keys: the attributes sealed and indexed again, the item key re-wrapped.
  /// The secret stays. Nil when nothing is to be done.
  private func resealed(
    _ stored: StoredRow, in tx: WriteTransaction
  ) throws -> (row: ItemRow?, isLocked: Bool) {
    guard let form = RowForm(rawValue: stored.form),
      stored.classKey.purpose.accessibility != nil
    else { throw health.corrupt(row: stored.rowID, "its class") }
    let metadata = try stored.metadata.withUnsafeBytes { sealed in
      try items.reader.openMetadata(
        sealed, row: stored.rowID, id: stored.id, form: form, version: stored.version, in: tx)
    }
    var row = ItemRow(
      id: stored.id, itemClass: form.itemClass, version: stored.version, metadata: metadata)
    row.secretTag = stored.secretTag
    (row.classKey, row.wrappedKey) = (stored.classKey, stored.wrappedKey)
    var isLocked = false
    do {
      let classKey = try keys.current(stored.classKey.purpose, in: tx) {
        try changes.ledger(tx)
      }
      if classKey.id != stored.classKey {
        try stored.wrappedKey.withUnsafeBytes { wrapped in
          try items.reader.withItemKey(
            wrapped, row: stored.rowID, id: stored.id, classKey: stored.classKey, in: tx
          ) { try row.wrap(of: items.store, itemKey: $0, by: classKey) }
        }
      }
    } catch let error as KeychainError where error.isClosedClass {
      isLocked = true
    }
    try items.sealMetadata(of: &row, in: tx) { try changes.ledger(tx) }
    let isSame =
      row.classKey == stored.classKey && row.indexEpoch == stored.indexEpoch
      && row.sealedMetadata.prefix(5) == stored.metadata.prefix(5)
    return (isSame ? nil : row, isLocked)
  }

  private func write(_ row: ItemRow, over stored: StoredRow, in tx: WriteTransaction) throws {
    let ledger = try changes.ledger(tx)
    try tx.execute(
      """
      UPDATE items SET class_key = ?, wrapped_key = ?, metadata = ?, index_epoch = ?,
        primary_index = ?, index_1 = ?, index_2 = ?
      WHERE id = ?
      """,
      .integer(Int64(row.classKey.rawValue)), .blob(row.wrappedKey), .blob(row.sealedMetadata),
      .integer(Int64(row.indexEpoch)), .blob(row.primaryIndex), .optional(row.index1),
      .optional(row.index2), .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
    try ledger.insert(row.manifestElement(rowID: stored.rowID))
  }
}

extension Rotation {
  /// Whether a rotation was begun and has not removed the old keys yet. Those of damaged items stay: of them
  /// this process knows when it has seen a rotation to its end.
  func isPending() throws(KeychainError) -> Bool {
    let left = left
    return try transactions.read { tx in
      let first = Int64(KeyID(.metadata, epoch: 0).rawValue)
      let count = try tx.first(
        "SELECT count(*) FROM keys WHERE id BETWEEN ? AND ?", .integer(first),
        .integer(first | 0xFF_FFFF)
      ) { $0.integer(0) }
      guard count ?? 0 > 1 else { return false }
      return try left?.keys != newestKeys(in: tx)
    }
  }

  /// Whether items that were locked, or without their device key, when a rotation came to them can be
  /// opened now: they still stand under older keys of their class, or under one that was carried. Looks at
  /// every row, but not for those that the last rotation of this process has found damaged.
  func isOwed() throws(KeychainError) -> Bool {
    let damaged = left?.damagedRows ?? []
    return try transactions.read { tx in
      let classes = Accessibility.allCases.map(\.keyPurpose).filter {
        $0.isOfSession || $0.accessibility?.isThisDeviceOnly == true
      }
      return try classes.contains { purpose in
        guard let newest = try KeyTable.newest(purpose, in: tx),
          (try? keys.key(newest, in: tx)) != nil
        else {
          return false
        }
        let isCarried = try KeyTable.carried(purpose, in: tx) != nil
        var isOwed = false
        try tx.forEach(
          "SELECT id FROM items WHERE class_key BETWEEN ? AND ?",
          bound: [
            .integer(Int64(KeyID(purpose, epoch: 0).rawValue)),
            .integer(Int64(newest.rawValue) - (isCarried ? 0 : 1)),
          ]
        ) { row in
          isOwed = !damaged.contains(row.integer(0))
          return !isOwed
        }
        return isOwed
      }
    }
  }
}

extension Rotation {
  /// Removes the records of older keys that no row needs, and counts the store under a new manifest
  /// key. Others cannot write meanwhile: it takes some 2 µs an item.
  ///
  /// - Returns: the number of keys that were removed.
  /// - Throws: `decode` when the store is not what its manifest says: counting it again would hide it.
  func retireKeys(after walk: RotationWalk, in tx: WriteTransaction) throws -> Int {
    let gone = try unneededKeys(in: tx)
    guard !gone.isEmpty else { return 0 }
    let ledger = try changes.ledger(tx)
    let manifests = try manifest.renewKey(ledger, by: keys.root(.master), erasure, in: tx)
    for key in gone { try KeyTable.remove(key.id, tag: key.tag, ledger, in: tx) }
    ledger.owesErasure = true
    tx.onCommit("rotation") { [ids = gone.map(\.id)] in
      self.erasure.retire(ids)
    }
    let count = gone.count + manifests
    changes.audit.note(
      .rotationFinished, "\(walk.renewed) items, \(count) old keys removed", ledger)
    return count
  }

  /// The older keys for attributes, index and classes that no row names.
  private func unneededKeys(in tx: ReadTransaction) throws -> [(id: KeyID, tag: ItemID)] {
    var older: [(id: KeyID, tag: ItemID)] = []
    for purpose in [.metadata, .blindIndex] + Accessibility.allCases.map(\.keyPurpose) {
      guard let newest = try KeyTable.newest(purpose, in: tx) else { continue }
      older += try KeyTable.keys(before: newest, in: tx)
    }
    guard !older.isEmpty else { return [] }
    var needed: Set<KeyID> = []
    try tx.forEach(
      "SELECT class_key, index_epoch, substr(metadata, 1, 5) FROM items", bound: []
    ) { row in
      needed.insert(KeyID(rawValue: UInt32(truncatingIfNeeded: row.integer(0))))
      needed.insert(KeyID(.blindIndex, epoch: UInt32(truncatingIfNeeded: row.integer(1))))
      row.withBlob(2) { head in
        guard head.count == 5 else { return }
        let id = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        needed.insert(KeyID(rawValue: id))
      }
      return true
    }
    return older.filter { !needed.contains($0.id) }
  }
}
