// SPDX-License-Identifier: Apache-2.0

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
