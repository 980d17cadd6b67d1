// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Records under other root keys.
extension KeyRing {
  /// Writes a key's record under another root.
  ///
  /// - Returns: why it was carried, when its device key is not here.
  func rewrap(
    _ wrapped: [UInt8], of id: KeyID, from old: GuardedKey,
    to new: RootKeys.Root, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> DeviceKeyAbsence? {
    let isForDevice = id.purpose.accessibility?.isThisDeviceOnly == true
    let key = try isForDevice ? keyOfDevice(wrapped, id, old) : .success(opened(wrapped, id, old))
    let rewrapped: [UInt8]
    var absence: DeviceKeyAbsence?
    switch key {
    case .success(let key):
      rewrapped = try KeyRecord.wrap(
        key, id: id, store: store, by: new.id, wrapper: new.key, device: deviceKey(for: id))
    case .failure(let reason):
      absence = reason
      rewrapped = try KeyRecord.carry(wrapped, id: id, store: store, from: old, to: new)
    }
    try KeyTable.replace(wrapped, by: rewrapped, of: id, ledger, in: tx)
    return absence
  }

  /// Whether the record of a key for this device only opens with `device`.
  func opens(_ wrapped: [UInt8], _ id: KeyID, _ root: GuardedKey, device: GuardedKey) -> Bool {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return false }
    return (try? opened(wrapped, id, root, device: device)) != nil
  }

  private func opened(
    _ wrapped: [UInt8], _ id: KeyID, _ root: GuardedKey, device: GuardedKey? = nil
  ) throws -> GuardedKey {
    try wrapped.withUnsafeBytes {
      try KeyRecord.unwrap($0, id: id, store: store, wrapper: root, device: device, in: arena)
    }
  }

  /// A failure when the device key that it takes is not here.
  private func keyOfDevice(
    _ wrapped: [UInt8], _ id: KeyID, _ root: GuardedKey
  ) throws -> Result<GuardedKey, DeviceKeyAbsence> {
    let device: GuardedKey?
    do {
      device = try deviceKey(for: id)
    } catch let error as KeychainError {
      if case .missing = try deviceKeyFile() { return .failure(.missing) }
      return .failure(.unusable(error))
    }
    do {
      return .success(try opened(wrapped, id, root, device: device))
    } catch let error as KeychainError where error.status == .notAvailable {
      return .failure(.another)
    } catch is SodiumError where wrapped.count == SealedPart.overhead + KeyArena.keyLength {
      // It does not say whose it is. If it was altered, the manifest tells.
      return .failure(.unusable(DeviceKey.mayBeAnother(devicePath)))
    }
  }
}
