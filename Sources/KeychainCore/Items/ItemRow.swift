// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A row of `items` in the making.
struct ItemRow {
  let id: ItemID
  let itemClass: ItemClass
  let version: Int64
  let metadata: ItemMetadata
  var classKey = KeyID.none
  var indexEpoch: UInt32 = 0
  var primaryIndex: [UInt8] = []
  var index1: [UInt8]?
  var index2: [UInt8]?
  var wrappedKey: [UInt8] = []
  var sealedMetadata: [UInt8] = []
  var sealedSecret: [UInt8] = []
  var secretTag = ItemID(high: 0, low: 0)

  /// Secrets are padded to a multiple of this, so that a length tells little.
  static let secretBlock = 64

  init(id: ItemID, itemClass: ItemClass, version: Int64, metadata: ItemMetadata) {
    self.id = id
    self.itemClass = itemClass
    self.version = version
    self.metadata = metadata
  }

  /// Where the parts of an item belong. The metadata binds the version of the item, and tells the
  /// version in which the secret was written: so neither is ever paired with an older other.
  static func metadataPlace(
    _ store: StoreID, _ id: ItemID, _ itemClass: ItemClass, version: Int64
  ) -> SealedPart.Place {
    .init(
      role: .metadata, store: store, subject: id, itemClass: itemClass.rawValue, version: version)
  }

  static func secretPlace(
    _ store: StoreID, _ id: ItemID, _ itemClass: ItemClass, version: Int64
  ) -> SealedPart.Place {
    .init(
      role: .secret, store: store, subject: id, itemClass: itemClass.rawValue, version: version)
  }

  static func itemKeyPlace(_ store: StoreID, _ id: ItemID) -> SealedPart.Place {
    .init(role: .itemKey, store: store, subject: id)
  }

  /// Seals the metadata, and computes the indexes over the same attributes.
  ///
  /// - Parameters:
  ///   - metadataKey: the newest metadata key.
  ///   - indexKey: the newest key of the blind index.
  mutating func sealMetadata(
    of store: StoreID, _ metadataKey: RootKeys.Root, _ indexKey: RootKeys.Root,
    nonce: UnsafeRawBufferPointer? = nil
  ) throws {
    var plaintext = metadata.encoded()
    defer { wipe(&plaintext) }
    guard plaintext.count <= NewItem.attributesLimit else { throw NewItem.tooLarge("attributes") }
    sealedMetadata = try metadataKey.key.withUnsafeBytes { key in
      try plaintext.withUnsafeBytes { plaintext in
        try SealedPart.seal(
          plaintext, at: Self.metadataPlace(store, id, itemClass, version: version),
          by: metadataKey.id, key: key, nonce: nonce)
      }
    }
    let index = BlindIndex(key: indexKey.key)
    indexEpoch = indexKey.id.epoch
    primaryIndex = try index.primaryKey(of: itemClass, metadata.attributes)
    index1 = try index.side(itemClass.sideIndexes.first, of: itemClass, metadata.attributes)
    index2 = try index.side(itemClass.sideIndexes.second, of: itemClass, metadata.attributes)
  }

  mutating func sealSecret(
    of store: StoreID, _ secret: SecretBytes, itemKey: UnsafeRawBufferPointer,
    nonce: UnsafeRawBufferPointer? = nil
  ) throws {
    let count = secret.count
    sealedSecret = try withScratchMemory(Padding.paddedCount(count, block: Self.secretBlock)) {
      padded in
      secret.withUnsafeBytes { padded.copyMemory(from: $0) }
      Padding.pad(padded, count: count)
      return try SealedPart.seal(
        UnsafeRawBufferPointer(padded),
        at: Self.secretPlace(store, id, itemClass, version: metadata.secretVersion),
        by: .none, key: itemKey, nonce: nonce)
    }
    secretTag = sealedSecret.tag
  }

  mutating func wrap(
    of store: StoreID, itemKey: UnsafeRawBufferPointer, by classKey: RootKeys.Root,
    nonce: UnsafeRawBufferPointer? = nil
  ) throws {
    self.classKey = classKey.id
    wrappedKey = try classKey.key.withUnsafeBytes { key in
      try SealedPart.seal(
        itemKey, at: Self.itemKeyPlace(store, id), by: classKey.id, key: key, nonce: nonce)
    }
  }

  func manifestElement(rowID: Int64) -> ManifestElement {
    .item(
      .init(
        rowID: rowID, itemClass: itemClass.rawValue, id: id, version: version,
        metadataTag: sealedMetadata.tag,
        secretTag: secretTag, indexEpoch: indexEpoch, primaryIndex: ItemID(primaryIndex),
        index1: index1.flatMap { ItemID($0) }, index2: index2.flatMap { ItemID($0) },
        classKey: classKey, wrappedKeyTag: wrappedKey.tag))
  }

  func item(rowID: Int64) -> Item {
    Item(
      rowID: rowID, id: id, itemClass: itemClass, accessible: metadata.accessible,
      attributes: metadata.attributes, version: version, secretVersion: metadata.secretVersion)
  }
}

/// A row of `items` as it lies in the file, without the secret itself.
struct StoredRow {
  let rowID: Int64
  let id: ItemID
  /// The byte of its class.
  let itemClass: UInt8
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

  /// The row after another one, or nil at the end.
  init?(after number: Int64, in tx: ReadTransaction) throws {
    let row = try tx.first(
      """
      SELECT class, version, class_key, index_epoch, primary_index, index_1, index_2, wrapped_key,
        metadata, substr(secret, -16), id, uuid
      FROM items WHERE id > ? ORDER BY id LIMIT 1
      """, .integer(number)
    ) { row in
      // A name that is none opens nothing.
      let id = row.withBlob(11) { ItemID($0) } ?? ItemID(high: 0, low: 0)
      return Self(ItemReference(rowID: row.integer(10), id: id), row)
    }
    guard let row else { return nil }
    self = row
  }

  private init(_ reference: ItemReference, _ row: SQLiteRow) {
    rowID = reference.rowID
    id = reference.id
    itemClass = UInt8(truncatingIfNeeded: row.integer(0))
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
        rowID: rowID, itemClass: itemClass, id: id, version: version, metadataTag: metadata.tag,
        secretTag: secretTag, indexEpoch: indexEpoch, primaryIndex: ItemID(primaryIndex),
        index1: index1.flatMap { ItemID($0) }, index2: index2.flatMap { ItemID($0) },
        classKey: classKey, wrappedKeyTag: wrappedKey.tag))
  }
}
