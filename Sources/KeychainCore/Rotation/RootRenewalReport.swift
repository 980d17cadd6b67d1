// SPDX-License-Identifier: Apache-2.0

/// What came with new root keys.
package struct RootRenewalReport: Equatable, Sendable {
  /// Slots that are gone, because nothing that opens them was given.
  package var removedSlots: [KeySlot] = []
  /// Items for this device only whose device key is not here. They wait for it, under the keys that they
  /// had.
  package var itemsOfAnotherDevice = 0
  /// What is wrong with the device key that is in its place. Nil when there is none, or nothing waits.
  package var deviceKeyProblem: String?
  /// The device key that was in use had no file any more, and has one again.
  package var hasWrittenDeviceKey = false
  /// Such items that were deleted, as it was asked for.
  package var deletedItems = 0
}
