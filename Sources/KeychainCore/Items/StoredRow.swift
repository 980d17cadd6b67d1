// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A row of `items` as it lies in the file, without the secret itself.
struct StoredRow {
  let rowID: Int64
  let id: ItemID
  let form: UInt8
  let version: Int64
  let classKey: KeyID
  let indexEpoch: UInt32
  let primaryIndex: [UInt8]
  let index1: [UInt8]?
  let index2: [UInt8]?
  let wrappedKey: [UInt8]
  let metadata: [UInt8]
  let secretTag: ItemID

  /// The row that a reference names, or nil.
  init?(_ reference: ItemReference, in tx: ReadTransaction) throws {
    let row = try tx.first(
      """
      SELECT class, version, class_key, index_epoch, primary_index, index_1, index_2, wrapped_key,
        metadata, substr(secret, -16)
      FROM items WHERE id = ? AND uuid = ?
      """, .integer(reference.rowID), .blob(reference.id.bytes)
    ) { Self(reference, $0) }
    guard let row else { return nil }
    self = row
  }

  private init(_ reference: ItemReference, _ row: SQLiteRow) {
    rowID = reference.rowID
    id = reference.id
    form = UInt8(truncatingIfNeeded: row.integer(0))
    version = row.integer(1)
    classKey = KeyID(rawValue: UInt32(truncatingIfNeeded: row.integer(2)))
    indexEpoch = UInt32(truncatingIfNeeded: row.integer(3))
    primaryIndex = row.blob(4)
    index1 = row.blobIfPresent(5)
    index2 = row.blobIfPresent(6)
    wrappedKey = row.blob(7)
    metadata = row.blob(8)
    secretTag = row.blob(9).tag
  }

  var manifestElement: ManifestElement {
    .item(
      .init(
        rowID: rowID, form: form, id: id, version: version, metadataTag: metadata.tag,
        secretTag: secretTag, indexEpoch: indexEpoch, primaryIndex: ItemID(primaryIndex),
        index1: index1.flatMap { ItemID($0) }, index2: index2.flatMap { ItemID($0) },
        classKey: classKey, wrappedKeyTag: wrappedKey.tag))
  }
}
