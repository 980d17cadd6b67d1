// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Sixteen bytes that stand for attributes in an index without telling them: BLAKE2b-128 under
/// the index key over
///
///     domain 1 | form 1 | (attribute tag 1 | length 4 | canonical bytes) …
///
/// Domain 1: the primary key, every attribute of it, a missing one with length 0. Domain 2: one
/// attribute. What it leaks is which items have an attribute in common.
struct BlindIndex {
  static let length = 16

  private enum Domain: UInt8 {
    case primaryKey = 1
    case attribute = 2
  }

  let key: GuardedKey

  func primaryKey(
    of form: RowForm, _ attributes: ItemAttributes
  ) throws -> [UInt8] {
    try primaryKey(of: form) { attributes[$0] }
  }

  /// - Parameter value: gives the value of an attribute, nil for one that is missing.
  func primaryKey(
    of form: RowForm, value: (ItemAttribute) -> AttributeValue?
  ) throws -> [UInt8] {
    var message = Self.message(.primaryKey, form)
    for attribute in form.primaryKey {
      Self.append(attribute, value(attribute) ?? .data([]), to: &message)
    }
    return try hash(&message)
  }

  /// Nil where there is nothing to find: an empty attribute is not indexed.
  func side(
    _ attribute: ItemAttribute?, of form: RowForm, _ attributes: ItemAttributes
  ) throws -> [UInt8]? {
    guard let attribute, let value = attributes[attribute], !value.isEmpty else { return nil }
    var message = Self.message(.attribute, form)
    Self.append(attribute, value, to: &message)
    return try hash(&message)
  }

  private static func message(_ domain: Domain, _ form: RowForm) -> [UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(128)
    message.append(domain.rawValue)
    message.append(form.rawValue)
    return message
  }

  private static func append(
    _ attribute: ItemAttribute, _ value: AttributeValue, to message: inout [UInt8]
  ) {
    message.append(attribute.rawValue)
    value.withCanonicalBytes { bytes in
      withUnsafeBytes(of: UInt32(clamping: bytes.count).bigEndian) {
        message.append(contentsOf: $0)
      }
      message.append(contentsOf: bytes)
    }
  }

  private func hash(_ message: inout [UInt8]) throws -> [UInt8] {
    defer { wipe(&message) }
    return try [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
      try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { key in
          try BLAKE2b.hash(
            message, key: key,
            into: UnsafeMutableRawBufferPointer(
              start: buffer.baseAddress, count: Self.length))
        }
      }
      count = Self.length
    }
  }
}

/// Names that follow from the store's keys.
extension Keychain {
  /// 32 hexadecimal digits that follow from the store's keys and a label, and that nobody computes without the keys.
  ///
  /// They stay the same over restarts, backups and key rotations: they come from the first audit key, which no
  /// rotation removes. It is the root of one subkey for this (`crypto_kdf`, context "tk-pseu1", number 1), which
  /// keys a BLAKE2b-128 of the label.
  ///
  /// - Parameter tx: a store of an early version has no audit key; a write transaction makes it.
  /// - Throws: `decode` when the key is damaged, or missing and `tx` cannot make it.
  package func pseudonym(
    for label: String, in tx: ReadTransaction
  ) throws(KeychainError) -> String {
    try KeychainError.wrap("deriving a pseudonym") {
      let first = KeyID(.audit, epoch: 1)
      if let tx = tx as? WriteTransaction, try KeyTable.newest(.audit, in: tx) == nil {
        _ = try keys.current(.audit, ledger(tx), in: tx)
      }
      let root = try keys.key(first, in: tx)
      let subkey = try keys.arena.subkey(1, context: "tk-pseu1", of: root)
      return try subkey.withUnsafeBytes {
        try BLAKE2b.hash(Array(label.utf8), key: $0, count: 16)
      }.hexadecimal
    }
  }
}
