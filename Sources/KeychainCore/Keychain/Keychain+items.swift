// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Items: `ItemTable`, `ItemSearch`, `ItemReader`.
extension Keychain {
  /// See `ItemTable.add`.
  @discardableResult
  package func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try itemTable.add(new, in: tx)
  }

  /// See `ItemTable.update`.
  @discardableResult
  package func update(
    _ item: Item, attributes: ItemAttributes? = nil,
    removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil, in tx: WriteTransaction
  ) throws(KeychainError) -> Item {
    try itemTable.update(
      item, attributes: attributes, removing: removing, secret: secret, accessible: accessible,
      in: tx)
  }

  /// See `ItemTable.delete`.
  package func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try itemTable.delete(item, in: tx)
  }

  /// See `ItemTable.deleteDamaged`.
  @discardableResult
  package func deleteDamaged(
    matching query: ItemQuery, in tx: WriteTransaction
  ) throws(KeychainError) -> Int {
    try itemTable.deleteDamaged(matching: query, in: tx)
  }

  /// See `ItemSearch.items`.
  package func items(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> [Item] {
    try itemTable.search.items(matching: query, in: tx)
  }

  /// See `ItemSearch.first`.
  package func first(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> (item: Item, secret: SecretBytes)? {
    try itemTable.search.first(matching: query, in: tx)
  }

  /// See `ItemSearch.newestMark`.
  package func newestMark(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> String? {
    try itemTable.search.newestMark(matching: query, in: tx)
  }

  /// See `ItemSearch.count`.
  package func count(
    of itemClass: ItemClass? = nil, in tx: ReadTransaction
  ) throws(KeychainError) -> Int {
    try itemTable.search.count(of: itemClass, in: tx)
  }

  /// See `ItemReader.secret`.
  package func secret(of item: Item, in tx: ReadTransaction) throws(KeychainError) -> SecretBytes {
    try itemTable.reader.secret(of: item, in: tx)
  }
}
