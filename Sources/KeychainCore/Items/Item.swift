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

/// Which items are meant. Everything that is given must hold.
package struct ItemQuery: Sendable {
  /// Nil: every class.
  package var itemClass: ItemClass?
  /// Equal byte by byte. An empty value also finds an attribute that is missing and `isEmptyByDefault`.
  package var attributes: ItemAttributes
  package var accessible: Accessibility?
  /// Nil: every group.
  package var accessGroups: [String]?
  /// Keychain Services leave synchronizable items out unless they are asked for.
  package var synchronizable: Synchronizable
  package var reference: ItemReference?
  /// The most items to return; nil: all.
  package var limit: Int?
  /// Only rows after this one: for walks in pages, with `limit`. Items come in the order of rows, unless
  /// `isNewestFirst`.
  package var after: Int64?
  package var unreadable: Unreadable
  /// The last rows first; with `limit` no others are opened.
  package var isNewestFirst = false

  package enum Synchronizable: Sendable {
    case no, yes, any
  }

  /// What to do about a row that was altered.
  package enum Unreadable: Sendable {
    /// Answer -26275: nobody knows whether it would have been meant.
    case fail
    /// Leave it out; `Keychain.quarantine` names it.
    case skip
  }

  package init(
    _ itemClass: ItemClass? = nil, _ attributes: ItemAttributes = [:],
    accessible: Accessibility? = nil, accessGroups: [String]? = nil,
    synchronizable: Synchronizable = .no, reference: ItemReference? = nil, limit: Int? = nil,
    after: Int64? = nil, unreadable: Unreadable = .fail
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.accessible = accessible
    self.accessGroups = accessGroups
    self.synchronizable = synchronizable
    self.reference = reference
    self.limit = limit
    self.after = after
    self.unreadable = unreadable
  }

  /// The first row that may be meant. An altered store can have rows below 1.
  var firstRow: Int64 { after.map { $0 == .max ? .max : $0 + 1 } ?? .min }

  /// Whether an item is meant.
  func matches(_ item: Item) -> Bool {
    if let itemClass, item.itemClass != itemClass { return false }
    if let accessible, item.accessible != accessible { return false }
    // The name alone: it is bound to the item, the row is only where to look.
    if let reference, item.id != reference.id { return false }
    switch synchronizable {
    case .any: break
    case .no: if item.isSynchronizable { return false }
    case .yes: if !item.isSynchronizable { return false }
    }
    if let accessGroups, !accessGroups.contains(item.accessGroup) { return false }
    for (attribute, wanted) in attributes {
      if let found = item.attributes[attribute] {
        guard found.matches(wanted) else { return false }
      } else {
        guard wanted.isEmpty, attribute.isEmptyByDefault else { return false }
      }
    }
    return true
  }
}
