// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Opens rows of `items`: the metadata under the metadata key, the secret under the row's own key, which
/// its class key wraps. Changes nothing; a row that does not open is reported to `StoreHealth`.
extension Keychain {
  /// Opens the metadata of the row that stands in the columns
  /// `id, uuid, class, version, metadata`.
  func item(from row: SQLiteRow, in tx: ReadTransaction) throws -> Item {
    let rowID = row.integer(0)
    guard let id = row.withBlob(1, { ItemID($0) }) else {
      throw health.corrupt(row: rowID, "its name")
    }
    let version = row.integer(3)
    guard let itemClass = UInt8(exactly: row.integer(2)).flatMap(ItemClass.init(rawValue:))
    else {
      throw health.corrupt(row: rowID, "its class")
    }
    let metadata = try row.withBlob(4) { sealed in
      try openMetadata(sealed, row: rowID, id: id, itemClass, version: version, in: tx)
    }
    return Item(
      rowID: rowID, id: id, itemClass: itemClass, accessible: metadata.accessible,
      attributes: metadata.attributes, version: version, secretVersion: metadata.secretVersion)
  }

  func openMetadata(
    _ sealed: UnsafeRawBufferPointer, row: Int64, id: ItemID, _ itemClass: ItemClass,
    version: Int64,
    in tx: ReadTransaction
  ) throws -> ItemMetadata {
    do {
      let keyID = try SealedPart.keyID(of: sealed)
      guard keyID.purpose == .metadata else { throw SodiumError.notAuthentic }
      let key = try keys.key(keyID, in: tx)
      return try withScratchMemory(SealedPart.plaintextCount(sealed)) { plaintext in
        try key.withUnsafeBytes { key in
          try SealedPart.open(
            sealed,
            at: ItemRow.metadataPlace(storeID, id, itemClass, version: version),
            key: key, into: plaintext)
        }
        return try ItemMetadata(decoding: UnsafeRawBufferPointer(plaintext))
      }
    } catch let error where StoreHealth.isDamage(error) {
      throw health.corrupt(row: row, "the metadata")
    }
  }

  /// Lends the item key of a row.
  ///
  /// - Parameter key: the class key, where the keys in memory may lack it.
  func withItemKey<R>(
    _ wrapped: UnsafeRawBufferPointer, row: Int64, id: ItemID, classKey: KeyID,
    key known: GuardedKey? = nil, in tx: ReadTransaction,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(KeyArena.keyLength) { itemKey in
      do {
        let keyID = try SealedPart.keyID(of: wrapped)
        guard keyID == classKey, try SealedPart.plaintextCount(wrapped) == itemKey.count else {
          throw SodiumError.notAuthentic
        }
        let key = try known ?? keys.key(keyID, in: tx)
        try key.withUnsafeBytes { key in
          try SealedPart.open(
            wrapped, at: ItemRow.itemKeyPlace(storeID, id), key: key, into: itemKey)
        }
      } catch let error where StoreHealth.isDamage(error) {
        throw health.corrupt(row: row, "the key")
      }
      return try body(UnsafeRawBufferPointer(itemKey))
    }
  }

  /// The secret of an item, as it is now (the item may have been changed since it was read).
  ///
  /// - Throws: `itemNotFound` when it is gone, `interactionNotAllowed` when its class is locked,
  ///   `decode` when the row was altered.
  package func secret(
    of item: Item, in tx: ReadTransaction
  ) throws(KeychainError) -> SecretBytes {
    try KeychainError.wrap("reading a secret") {
      let secret = try tx.first(
        """
        SELECT uuid, class, version, metadata, class_key, wrapped_key, secret
        FROM items WHERE id = ?
        """, .integer(item.rowID)
      ) { row in try self.secret(of: item, from: row, in: tx) }
      guard let found = secret, let secret = found else {
        try health.checkListing()
        throw KeychainError.noSuchItem()
      }
      return secret
    }
  }

  private func secret(
    of item: Item, from row: SQLiteRow, in tx: ReadTransaction
  ) throws -> SecretBytes? {
    guard row.withBlob(0, { ItemID($0) }) == item.id else { return nil }
    let version = row.integer(2)
    var secretVersion = item.secretVersion
    if version != item.version {
      guard let itemClass = UInt8(exactly: row.integer(1)).flatMap(ItemClass.init(rawValue:))
      else {
        throw health.corrupt(row: item.rowID, "its class")
      }
      secretVersion = try row.withBlob(3) { sealed in
        try openMetadata(
          sealed, row: item.rowID, id: item.id, itemClass, version: version, in: tx
        ).secretVersion
      }
    }
    return try openSecret(of: item, version: secretVersion, from: row, at: 4, in: tx)
  }

  /// Opens the secret of a row whose columns from `first` on are `class_key, wrapped_key, secret`.
  func openSecret(
    of item: Item, version: Int64, from row: SQLiteRow, at first: Int32, in tx: ReadTransaction
  ) throws -> SecretBytes {
    let classKey = KeyID(rawValue: UInt32(truncatingIfNeeded: row.integer(first)))
    return try row.withBlob(first + 1) { wrapped in
      try withItemKey(wrapped, row: item.rowID, id: item.id, classKey: classKey, in: tx) { key in
        try row.withBlob(first + 2) { sealed in
          do {
            return try openSecret(sealed, of: item, version: version, key: key)
          } catch is SodiumError {
            throw health.corrupt(row: item.rowID, "the secret")
          }
        }
      }
    }
  }

  private func openSecret(
    _ sealed: UnsafeRawBufferPointer, of item: Item, version: Int64, key: UnsafeRawBufferPointer
  ) throws -> SecretBytes {
    guard try SealedPart.keyID(of: sealed) == .none else { throw SodiumError.notAuthentic }
    return try SecretBytes(capacity: SealedPart.plaintextCount(sealed)) { padded in
      try SealedPart.open(
        sealed, at: ItemRow.secretPlace(storeID, item.id, item.itemClass, version: version),
        key: key, into: padded)
      return try Padding.unpaddedCount(
        UnsafeRawBufferPointer(padded), block: ItemRow.secretBlock)
    }
  }
}
