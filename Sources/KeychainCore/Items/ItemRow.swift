// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A row of `items` in the making.
struct ItemRow {
  let id: ItemID
  let itemClass: ItemClass
  let version: Int64
  let metadata: ItemMetadata
  let form: RowForm
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
    form = RowForm(itemClass, metadata.attributes)
  }

  /// Where the parts of an item belong. The metadata binds the version of the item, and tells the
  /// version in which the secret was written: so neither is ever paired with an older other.
  static func metadataPlace(
    _ store: StoreID, _ id: ItemID, form: UInt8, version: Int64
  ) -> SealedPart.Place {
    .init(role: .metadata, store: store, subject: id, itemClass: form, version: version)
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
    of store: StoreID, _ metadataKey: RootKeys.Root, _ indexKey: RootKeys.Root
  ) throws {
    var plaintext = metadata.encoded()
    defer { wipe(&plaintext) }
    guard plaintext.count <= NewItem.attributesLimit else { throw NewItem.tooLarge("attributes") }
    sealedMetadata = try metadataKey.key.withUnsafeBytes { key in
      try plaintext.withUnsafeBytes { plaintext in
        try SealedPart.seal(
          plaintext, at: Self.metadataPlace(store, id, form: form.rawValue, version: version),
          by: metadataKey.id, key: key)
      }
    }
    let index = BlindIndex(key: indexKey.key)
    indexEpoch = indexKey.id.epoch
    primaryIndex = try index.primaryKey(of: form, metadata.attributes)
    index1 = try index.side(form.sideIndexes.first, of: form, metadata.attributes)
    index2 = try index.side(form.sideIndexes.second, of: form, metadata.attributes)
  }

  mutating func sealSecret(
    of store: StoreID, _ secret: SecretBytes, itemKey: UnsafeRawBufferPointer
  ) throws {
    let count = secret.count
    sealedSecret = try withScratchMemory(Padding.paddedCount(count, block: Self.secretBlock)) {
      padded in
      secret.withUnsafeBytes { padded.copyMemory(from: $0) }
      Padding.pad(padded, count: count)
      return try SealedPart.seal(
        UnsafeRawBufferPointer(padded),
        at: Self.secretPlace(store, id, itemClass, version: metadata.secretVersion),
        by: .none, key: itemKey)
    }
    secretTag = sealedSecret.tag
  }

  mutating func wrap(
    of store: StoreID, itemKey: UnsafeRawBufferPointer, by classKey: RootKeys.Root
  ) throws {
    self.classKey = classKey.id
    wrappedKey = try classKey.key.withUnsafeBytes { key in
      try SealedPart.seal(itemKey, at: Self.itemKeyPlace(store, id), by: classKey.id, key: key)
    }
  }

  func manifestElement(rowID: Int64) -> ManifestElement {
    .item(
      .init(
        rowID: rowID, form: form.rawValue, id: id, version: version,
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
