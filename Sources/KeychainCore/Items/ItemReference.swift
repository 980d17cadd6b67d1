// SPDX-License-Identifier: Apache-2.0

/// Finds an item again after any change of its attributes.
package struct ItemReference: Hashable, Sendable {
  package let rowID: Int64
  package let id: ItemID

  package init(rowID: Int64, id: ItemID) {
    self.rowID = rowID
    self.id = id
  }
}
