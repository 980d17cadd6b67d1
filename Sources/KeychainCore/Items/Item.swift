// SPDX-License-Identifier: Apache-2.0

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
