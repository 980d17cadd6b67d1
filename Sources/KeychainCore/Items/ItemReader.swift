// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Opens rows of `items`: the metadata under the metadata key, the secret under the row's own key, which
/// its class key wraps. Changes nothing; a row that does not open is reported to `StoreHealth`.
final class ItemReader: Sendable {
  let store: StoreID
  let keys: KeyRing
  let health: StoreHealth

  init(store: StoreID, keys: KeyRing, health: StoreHealth) {
    self.store = store
    self.keys = keys
    self.health = health
  }

  /// Opens the metadata of the row that stands in the columns
  /// `id, uuid, class, version, metadata`.
  func item(from row: SQLiteRow, in tx: ReadTransaction) throws -> Item {
    let rowID = row.integer(0)
    guard let id = row.withBlob(1, { ItemID($0) }) else {
      throw health.corrupt(row: rowID, "its name")
    }
    let version = row.integer(3)
    guard let form = UInt8(exactly: row.integer(2)).flatMap(RowForm.init) else {
      throw health.corrupt(row: rowID, "its class")
    }
    let metadata = try row.withBlob(4) { sealed in
      try openMetadata(sealed, row: rowID, id: id, form: form, version: version, in: tx)
    }
    return Item(
      rowID: rowID, id: id, itemClass: form.itemClass, accessible: metadata.accessible,
      attributes: metadata.attributes, version: version, secretVersion: metadata.secretVersion)
  }

  func openMetadata(
    _ sealed: UnsafeRawBufferPointer, row: Int64, id: ItemID, form: RowForm, version: Int64,
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
            at: ItemRow.metadataPlace(store, id, form: form.rawValue, version: version),
            key: key, into: plaintext)
        }
        return try ItemMetadata(decoding: UnsafeRawBufferPointer(plaintext))
      }
    } catch let error where isDamage(error) {
      throw health.corrupt(row: row, "the metadata")
    }
  }

  /// Lends the item key of a row.
  func withItemKey<R>(
    _ wrapped: UnsafeRawBufferPointer, row: Int64, id: ItemID, classKey: KeyID,
    in tx: ReadTransaction, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(KeyArena.keyLength) { itemKey in
      do {
        let keyID = try SealedPart.keyID(of: wrapped)
        guard keyID == classKey, try SealedPart.plaintextCount(wrapped) == itemKey.count else {
          throw SodiumError.notAuthentic
        }
        let key = try keys.key(keyID, in: tx)
        try key.withUnsafeBytes { key in
          try SealedPart.open(
            wrapped, at: ItemRow.itemKeyPlace(store, id), key: key, into: itemKey)
        }
      } catch let error where isDamage(error) {
        throw health.corrupt(row: row, "the key")
      }
      return try body(UnsafeRawBufferPointer(itemKey))
    }
  }

  private func isDamage(_ error: any Error) -> Bool {
    switch error {
    case is SodiumError: true
    case let error as KeychainError: error.status == .decode
    default: false
    }
  }
}
