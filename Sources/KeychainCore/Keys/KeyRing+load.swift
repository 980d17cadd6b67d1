// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Keys out of their records.
extension KeyRing {
  /// Reads every record that can be opened now.
  ///
  /// - Throws: `decode` when a key is missing that every store has.
  func loadAll(in tx: ReadTransaction) throws {
    for (id, wrapped) in try KeyTable.records(in: tx) {
      // A record that does not open is answered for when it is needed.
      if let key = try? unwrap(wrapped, id: id) {
        add(key, as: id)
      } else {
        loaded.withLock { $0.know(id) }
      }
    }
    for purpose in [KeyPurpose.metadata, .blindIndex, .manifest] {
      let isThere = loaded.withLock { loaded in
        loaded.current[purpose].flatMap { loaded.keys[$0] } != nil
      }
      guard isThere else {
        throw KeychainError(
          .decode, "a key of the store is missing or was altered: restore a backup")
      }
    }
  }

  func load(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    guard let wrapped = try KeyTable.record(of: id, in: tx) else {
      throw KeychainError(.decode, "a key of the store is missing: restore a backup")
    }
    do {
      return try unwrap(wrapped, id: id)
    } catch let error as SodiumError {
      guard try hasOtherRoots(in: tx) else { throw error }
      throw KeychainError(
        .notAvailable, "the root keys of the store were renewed meanwhile: open it again",
        asksForReopening: true)
    }
  }

  /// Opens the record of a key with its wrapper, if that is in memory.
  func unwrap(_ wrapped: [UInt8], id: KeyID) throws -> GuardedKey {
    try wrapped.withUnsafeBytes { wrapped in
      let wrapperID = try SealedPart.keyID(of: wrapped)
      if id.purpose == .session, loaded.withLock({ $0.isLocked }) { throw locked() }
      let (wrapper, isKnown) = loaded.withLock { loaded in
        (loaded.keys[wrapperID], loaded.current[wrapperID.purpose] != nil)
      }
      guard let wrapper else {
        // Known but not in memory: its record did not open.
        if wrapperID.purpose == .session, !isKnown { throw locked() }
        throw SodiumError.notAuthentic
      }
      return try KeyRecord.unwrap(
        wrapped, id: id, store: store, wrapper: wrapper, device: deviceKey(for: id), in: arena)
    }
  }

  /// Beside a process that writes, the roots may be others by now: then the slots are, too.
  private func hasOtherRoots(in tx: ReadTransaction) throws -> Bool {
    guard access == .readOnly else { return false }
    return try !KeySetMark(in: tx).hasSameSlots(as: opening)
  }

  /// Beside a process that writes, there may be index keys that came after the store was opened.
  func learnIndexKeys(in tx: ReadTransaction) throws {
    for id in try KeyTable.ids(of: .blindIndex, in: tx) { _ = try key(id, in: tx) }
  }
}

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
