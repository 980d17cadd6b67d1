// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// A root key that is in memory.
  func root(_ purpose: KeyPurpose) throws -> (id: KeyID, key: GuardedKey) {
    let root = state.withLock { state in
      state.ring.current[purpose].flatMap { id in state.ring.keys[id].map { (id, $0) } }
    }
    guard let root else { throw locked() }
    return root
  }

  /// The session key for a slot that is to hold it: where no slot held it before, a new one.
  ///
  /// - Parameter wroteDeviceKey: called when the file of the device key was lost, and is written again.
  func sessionForSlot(
    _ ledger: ChangeLedger, _ wroteDeviceKey: () -> Void, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    let session = try root(.session)
    guard let wrapped = try record(of: session.id, in: tx) else { return session }
    let roots = RootKeys(master: try root(.master), session: session)
    let records = try records(in: tx)
    let hasWritten = try confirmDeviceKey { device in
      records.contains { opens($1, $0, roots.wrapper(of: $0.purpose).key, device: device) }
    }
    if hasWritten { wroteDeviceKey() }
    let new = try renewSession(session.id, ledger, in: tx)
    try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(session.id.rawValue)))
    try ledger.remove(.key(session.id, tag: wrapped.tag))
    return new
  }

  /// The session key beside the others, as long as no slot holds it.
  func insertSessionRecord(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    let session = try root(.session)
    let master = try root(.master)
    let wrapped = try KeyRecord.wrap(
      session.key, id: session.id, store: storeID, by: master.id, wrapper: master.key)
    try insertRecord(wrapped, of: session.id, ledger, in: tx)
  }

  /// Writes a key's record under another root.
  ///
  /// - Returns: why it was carried, when its device key is not here.
  func rewrap(
    _ wrapped: [UInt8], of id: KeyID, from old: GuardedKey,
    to new: (id: KeyID, key: GuardedKey), _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> DeviceKeyAbsence? {
    let isForDevice = id.purpose.accessibility?.isThisDeviceOnly == true
    let key = try isForDevice ? keyOfDevice(wrapped, id, old) : .success(opened(wrapped, id, old))
    let anew: [UInt8]
    var absence: DeviceKeyAbsence?
    switch key {
    case .success(let key):
      anew = try KeyRecord.wrap(
        key, id: id, store: storeID, by: new.id, wrapper: new.key, device: deviceKey(for: id))
    case .failure(let reason):
      absence = reason
      anew = try KeyRecord.carry(wrapped, id: id, store: storeID, from: old, to: new)
    }
    try tx.execute(
      "UPDATE keys SET wrapped = ? WHERE id = ?", .blob(anew), .integer(Int64(id.rawValue)))
    try ledger.remove(.key(id, tag: wrapped.tag))
    try ledger.insert(.key(id, tag: anew.tag))
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
      try KeyRecord.unwrap($0, id: id, store: storeID, wrapper: root, device: device, in: arena)
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
      return .failure(.unusable(DeviceKey.mayBeAnother(location.deviceKeyPath)))
    }
  }

  /// Makes the next session key, wraps with it what the old one wrapped, and gives every class
  /// among it its next key. Whoever has a key file and an older copy of the store has the old keys;
  /// of what is added or changed from now on, they open nothing.
  private func renewSession(
    _ old: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    let new = (id: KeyID(.session, epoch: old.epoch + 1), key: try arena.randomKey())
    let roots = RootKeys(master: try root(.master), session: new)
    state.withLock { $0.ring.prepare(roots) }
    var newest: [KeyPurpose: UInt32] = [:]
    let session = try root(.session)
    for (id, wrapped) in try records(in: tx) {
      guard try wrapped.withUnsafeBytes({ try SealedPart.keyID(of: $0) }) == old else { continue }
      let absence = try rewrap(wrapped, of: id, from: session.key, to: new, ledger, in: tx)
      // Without its device key nothing is added to a class; its next key comes with it.
      newest[id.purpose] = absence == nil ? id.epoch : nil
    }
    for (purpose, epoch) in newest {
      try makeKey(KeyID(purpose, epoch: epoch + 1), by: new, in: tx)
    }
    ledger.newKeys[new.id] = new.key
    return new
  }
}
