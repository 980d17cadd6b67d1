// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension ManifestElement {
  /// Goes through every row that the manifest counts.
  ///
  /// - Parameter health: learns of a row that cannot be read as one.
  static func forEach(
    in tx: ReadTransaction, _ health: StoreHealth, _ body: (ManifestElement) throws -> Void
  ) throws {
    try tx.forEach(
      """
      SELECT id, class, uuid, version, metadata, secret, index_epoch, primary_index, index_1,
        index_2, class_key, wrapped_key
      FROM items
      """, bound: []
    ) { row in
      guard let id = row.withBlob(2, { ItemID($0) }), let form = UInt8(exactly: row.integer(1)),
        let indexEpoch = UInt32(exactly: row.integer(6)),
        let classKey = UInt32(exactly: row.integer(10))
      else { throw health.corrupt(row: row.integer(0), "what names it") }
      let element = ItemRow(
        rowID: row.integer(0), form: form, id: id,
        version: row.integer(3), metadataTag: row.tag(4), secretTag: row.tag(5),
        indexEpoch: indexEpoch,
        primaryIndex: row.withBlob(7) { ItemID($0) },
        index1: row.isNull(8) ? nil : row.withBlob(8) { ItemID($0) },
        index2: row.isNull(9) ? nil : row.withBlob(9) { ItemID($0) },
        classKey: KeyID(rawValue: classKey), wrappedKeyTag: row.tag(11))
      try body(.item(element))
      return true
    }
    try tx.forEach(
      "SELECT id, uuid, payload, kind, created, label, parameters FROM key_slots", bound: []
    ) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      let columns = KeySlotRow.columns(
        kind: row.integer(3), created: row.integer(4), label: row.text(5), parameters: row.blob(6))
      try body(.slot(id: id, number: row.integer(0), tag: row.tag(2), columns: columns))
      return true
    }
    try tx.forEach("SELECT id, wrapped FROM keys", bound: []) { row in
      guard let id = UInt32(exactly: row.integer(0)) else { throw SodiumError.notAuthentic }
      try body(.key(KeyID(rawValue: id), tag: row.tag(1)))
      return true
    }
    if let last = try AuditRow.last(in: tx) { try body(last.manifestElement) }
  }
}

extension SQLiteRow {
  fileprivate func tag(_ column: Int32) -> ItemID {
    withBlob(column) { bytes in
      ItemID(UnsafeRawBufferPointer(rebasing: bytes.suffix(16))) ?? ItemID(high: 0, low: 0)
    }
  }
}
