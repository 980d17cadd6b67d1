// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension ItemReader {
  /// The secret of an item, as it is now (the item may have been changed since it was read).
  ///
  /// - Throws: `itemNotFound` when it is gone, `interactionNotAllowed` when its class is locked,
  ///   `decode` when the row was altered.
  func secret(of item: Item, in tx: ReadTransaction) throws(KeychainError) -> SecretBytes {
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
      guard let form = UInt8(exactly: row.integer(1)).flatMap(RowForm.init) else {
        throw health.corrupt(row: item.rowID, "its class")
      }
      secretVersion = try row.withBlob(3) { sealed in
        try openMetadata(
          sealed, row: item.rowID, id: item.id, form: form, version: version, in: tx
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
        sealed, at: ItemRow.secretPlace(store, item.id, item.itemClass, version: version),
        key: key, into: padded)
      return try Padding.unpaddedCount(
        UnsafeRawBufferPointer(padded), block: ItemRow.secretBlock)
    }
  }
}
