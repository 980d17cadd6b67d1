// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The device key: a file outside of the store, so that a copy of the store alone does not open
/// what is for this device only. It is made with the first such item.
extension KeyRing {
  /// The device key if what `id` names takes it to be opened, else nil.
  ///
  /// - Throws: `notAvailable` when the file is missing, or is no key file.
  func deviceKey(for id: KeyID) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    let keyID = KeyID(.device, epoch: 1)
    if let key = loaded.withLock({ $0.keys[keyID] }) { return key }
    switch try deviceKeyFile() {
    case .key(let key):
      add(key, as: keyID)
      return key
    case .missing:
      throw KeychainError(
        .notAvailable,
        "items for this device only need \(devicePath): it is missing, or they belong"
          + " to another machine")
    case .unusable(let reason): throw reason
    }
  }

  /// The same for a key that is being made: the first makes the file. Where there were others
  /// before, a new file would not open them; where there were none, the file says what the key is, and
  /// not what was read from an earlier one.
  func deviceKey(for id: KeyID, in tx: WriteTransaction) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    let classes = Accessibility.allCases.filter(\.isThisDeviceOnly).map(\.keyPurpose)
    let others = try classes.compactMap { try KeyTable.newest($0, in: tx) }
    if others.isEmpty {
      _ = try KeyFile.createIfAbsent(devicePath)
      forget(.device)
    }
    for other in others {
      // One device key for all of them: if the file has another, nothing more is wrapped with it.
      do {
        _ = try key(other, in: tx)
      } catch let error as KeychainError where error.status == .notAvailable {
        throw error
      } catch {
        // Locked or altered: that is nothing about the device key.
      }
    }
    return try deviceKey(for: id)
  }
}
