// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The device key: a file outside of the store, so that a copy of the store alone does not open
/// what is for this device only. It is made with the first such item.
extension Keychain {
  /// The device key if what `id` names takes it to be opened, else nil.
  ///
  /// - Throws: `notAvailable` when the file is missing.
  func deviceKey(for id: KeyID) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    let keyID = KeyID(.device, epoch: 1)
    if let key = state.withLock({ $0.ring.keys[keyID] }) { return key }
    guard StoreLocation.isThere(location.deviceKeyPath) else {
      throw KeychainError(
        .notAvailable,
        "items for this device only need \(location.deviceKeyPath): it is missing, or they belong"
          + " to another machine")
    }
    let octets = try KeyFile.read(location.deviceKeyPath)
    let key = try arena.key { memory in octets.withUnsafeBytes { memory.copyMemory(from: $0) } }
    state.withLock { $0.ring.add(key, as: keyID) }
    return key
  }

  /// The same for a key that is being made: the first makes the file. Where there were others
  /// before, a new file would not open them.
  func deviceKey(for id: KeyID, in tx: WriteTransaction) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    if !StoreLocation.isThere(location.deviceKeyPath) {
      let classes = Accessibility.allCases.filter(\.isThisDeviceOnly).map(\.keyPurpose)
      if try classes.allSatisfy({ try newestKey($0, in: tx) == nil }) {
        _ = try KeyFile.createIfAbsent(location.deviceKeyPath)
      }
    }
    return try deviceKey(for: id)
  }
}
