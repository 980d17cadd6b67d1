// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// An item as it was when it was read: everything but its secret.
package struct Item: Sendable {
  /// The row; with `id` it finds the item again.
  package let rowID: Int64
  package let id: ItemID
  package let itemClass: ItemClass
  package let accessible: Accessibility
  /// The dates of creation and of the last change are among them.
  package let attributes: ItemAttributes
  /// Rises by one with every change.
  package let version: Int64
  let secretVersion: Int64

  package subscript(_ attribute: ItemAttribute) -> AttributeValue? { attributes[attribute] }

  package var reference: ItemReference { ItemReference(rowID: rowID, id: id) }
  package var accessGroup: String { attributes[.accessGroup]?.string ?? "" }
  package var isSynchronizable: Bool { attributes[.synchronizable]?.bool ?? false }
  /// Microseconds since 1970.
  package var created: Int64 { attributes[.creationDate]?.date ?? 0 }
  package var modified: Int64 { attributes[.modificationDate]?.date ?? 0 }
}

extension Item: CustomStringConvertible {
  /// Attributes can be private too: only what the store's file shows.
  package var description: String { "\(itemClass.code) item \(id)" }
}

/// An item to be added.
package struct NewItem: Sendable {
  /// The most bytes of a secret, and of all attributes together.
  package static let secretLimit = 16 << 20
  package static let attributesLimit = 1 << 20

  package var itemClass: ItemClass
  /// The dates are stamped, unless they are given.
  package var attributes: ItemAttributes
  package var secret: SecretBytes
  package var accessible: Accessibility

  package init(
    _ itemClass: ItemClass, attributes: ItemAttributes, secret: SecretBytes,
    accessible: Accessibility = .whenUnlocked
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.secret = secret
    self.accessible = accessible
  }

  static func tooLarge(_ what: String) -> KeychainError {
    KeychainError(.dataTooLarge, "the \(what) of an item is larger than the store takes")
  }
}

/// Finds an item again after any change of its attributes.
package struct ItemReference: Hashable, Sendable {
  package let rowID: Int64
  package let id: ItemID

  package init(rowID: Int64, id: ItemID) {
    self.rowID = rowID
    self.id = id
  }
}
