// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// A name for an item that outlives the program and any change of the item's attributes. As bytes:
///
///     class 4 ("genp") | row 8, big-endian | item 16
///
/// For an identity, the item is its certificate.
package struct PersistentReference: Hashable, Sendable {
  private static let length = 28

  package let itemClass: RequestClass
  package let reference: ItemReference

  package init(_ itemClass: RequestClass, _ reference: ItemReference) {
    self.itemClass = itemClass
    self.reference = reference
  }

  /// - Throws: `param` when the bytes are no reference.
  package init(decoding bytes: [UInt8]) throws(KeychainError) {
    guard bytes.count == Self.length,
      let itemClass = RequestClass(code: String(decoding: bytes[..<4], as: UTF8.self)),
      let id = ItemID(Array(bytes[12...]))
    else { throw KeychainError(.param, "that is no persistent reference of this keychain") }
    let row = bytes[4..<12].reduce(0) { $0 << 8 | UInt64($1) }
    self.init(itemClass, ItemReference(rowID: Int64(bitPattern: row), id: id))
  }

  package var bytes: [UInt8] {
    Array(itemClass.code.utf8)
      + withUnsafeBytes(of: reference.rowID.bigEndian) { Array($0) } + reference.id.bytes
  }
}
