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
