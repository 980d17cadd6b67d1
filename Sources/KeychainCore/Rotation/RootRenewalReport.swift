// SPDX-License-Identifier: Apache-2.0

/// What came with new root keys.
package struct RootRenewalReport: Equatable, Sendable {
  /// Slots that are gone, because nothing that opens them was given.
  package var removedSlots: [KeySlot] = []
  /// Items for this device only whose device key is not here. They wait for it, under the keys that they
  /// had.
  package var itemsOfAnotherDevice = 0
  /// Such items that were deleted, as it was asked for.
  package var deletedItems = 0
}
