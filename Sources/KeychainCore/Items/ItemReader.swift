import SQLiteDatabase
import SodiumCrypto

/// Opens rows of `items`: the metadata under the metadata key, the secret under the key of its class. Changes nothing;
/// a row that does not open is reported to `StoreHealth`.
extension Keychain {
  /// Opens the metadata of the row that stands in the first columns of `ItemRow`.
  func item(from row: SQLiteRow, in tx: ReadTransaction) throws -> Item {
    let rowID = row.integer(0)
    guard let id = row.withBlob(1, { ItemID($0) }) else { throw health.corrupt(row: rowID, "its name") }
    guard let itemClass = UInt8(exactly: row.integer(2)).flatMap(ItemClass.init(rawValue:)) else {
      throw health.corrupt(row: rowID, "its class")
    }
    var item = Item(rowID: rowID, id: id, itemClass: itemClass, version: row.integer(3))
    do {
      try row.withBlob(4) { sealed in
        let binding = item.binding(of: .metadata, storeID)
        try SealedPart.open(sealed, at: binding) {
          try keys.key($0, for: .metadata, in: tx)
        } _: {
          try item.decode($0)
        }
      }
    } catch let error where StoreHealth.isDamage(error) { throw health.corrupt(row: rowID, "the metadata") }
    return item
  }

  /// The secret of an item, as it is now (the item may have been changed since it was read).
  ///
  /// - Throws: `itemNotFound` when it is gone, `interactionNotAllowed` when its class is locked,
  ///   `decode` when the row was altered.
  package func secret(of item: Item, in tx: ReadTransaction) throws(KeychainError) -> SecretBytes {
    try KeychainError.wrap("reading a secret") {
      let secret = try tx.first(SearchPlan.byRow, .integer(item.rowID)) { row -> SecretBytes? in
        guard row.withBlob(1, { ItemID($0) }) == item.id else { return nil }
        let now = row.integer(3) == item.version ? item : try self.item(from: row, in: tx)
        return try self.secret(of: now, from: row, in: tx)
      }
      guard let found = secret, let secret = found else {
        try health.checkListing()
        throw KeychainError.noSuchItem()
      }
      return secret
    }
  }

  /// Opens the secret of the row that stands in the first seven columns of `ItemRow`.
  ///
  /// - Parameter known: the class key, where the keys in memory may lack it.
  func secret(of item: Item, from row: SQLiteRow, key known: GuardedKey? = nil, in tx: ReadTransaction) throws
    -> SecretBytes
  {
    let classKey = row.integer(5)
    return try row.withBlob(6) { sealed in
      do {
        let id = try SealedPart.keyID(of: sealed)
        guard Int64(id.rawValue) == classKey else { throw SodiumError.notAuthentic }
        let binding = item.binding(of: .secret, storeID)
        return try (known ?? keys.key(id, in: tx)).withUnsafeBytes { key in
          try SecretBytes(capacity: SealedPart.plaintextCount(sealed)) { padded in
            try SealedPart.open(sealed, at: binding, key: key, into: padded)
            return try Padding.unpaddedCount(UnsafeRawBufferPointer(padded), block: binding.role.block ?? 1)
          }
        }
      } catch let error where StoreHealth.isDamage(error) { throw health.corrupt(row: item.rowID, "the secret") }
    }
  }
}
