// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// Key slots, locking, rotation: `KeySlots`, `KeyRing`, `Rotation`.
extension Keychain {
  /// See `KeySlots.all`.
  package func slots() throws(KeychainError) -> [KeySlot] { try keySlots.all() }

  /// See `KeySlots.numbers`.
  package func slotsOpened(by secret: KeySlotSecret) throws(KeychainError) -> [Int64] {
    try keySlots.numbers(openedBy: secret)
  }

  /// See `KeySlots.add`.
  @discardableResult
  package func addKeySlot(
    _ secret: KeySlotSecret, label: String = "", for actor: String? = nil,
    wroteDeviceKey: () -> Void = {}
  ) throws(KeychainError) -> KeySlot {
    try keySlots.add(secret, label: label, for: actor, wroteDeviceKey: wroteDeviceKey)
  }

  /// See `KeySlots.remove`.
  package func removeKeySlot(_ number: Int64, for actor: String? = nil) throws(KeychainError) {
    try keySlots.remove(number, for: actor)
  }

  /// Whether what is accessible "when unlocked" can be reached.
  package var isUnlocked: Bool { keys.isUnlocked }

  /// See `KeySlots.lock`.
  package func lock() { keySlots.lock() }

  /// See `KeySlots.unlock`.
  package func unlock(with secret: KeySlotSecret) throws(KeychainError) {
    try keySlots.unlock(with: secret)
  }

  /// See `Pseudonym.make`.
  package func pseudonym(for label: String, in tx: ReadTransaction) throws(KeychainError) -> String
  {
    try Pseudonym(keys: keys, changes: changes).make(for: label, in: tx)
  }

  /// See `Rotation.run`.
  @discardableResult
  package func rotateKeys(
    _ secrets: [KeySlotSecret], deletingDeviceItems deletesDeviceItems: Bool = false,
    for actor: String? = nil
  ) throws(KeychainError) -> RotationReport {
    try Rotation(slots: keySlots)
      .run(secrets, deletingDeviceItems: deletesDeviceItems, for: actor)
  }
}
