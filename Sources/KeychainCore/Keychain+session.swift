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
  func sessionForSlot(
    _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    let session = try root(.session)
    guard let wrapped = try record(of: session.id, in: tx) else { return session }
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

  /// Makes the next session key, wraps with it what the old one wrapped, and gives every class
  /// among it its next key. Whoever has a key file and an older copy of the store has the old keys;
  /// of what is added or changed from now on, they open nothing.
  private func renewSession(
    _ old: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    let new = (id: KeyID(.session, epoch: old.epoch + 1), key: try arena.randomKey())
    var newest: [KeyPurpose: UInt32] = [:]
    let records = try tx.all("SELECT id, wrapped FROM keys ORDER BY id") {
      (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), $0.blob(1))
    }
    for (id, wrapped) in records {
      guard try wrapped.withUnsafeBytes({ try SealedPart.keyID(of: $0) }) == old else { continue }
      let anew = try KeyRecord.wrap(
        unwrap(wrapped, id: id), id: id, store: storeID, by: new.id, wrapper: new.key,
        device: deviceKey(for: id))
      try tx.execute(
        "UPDATE keys SET wrapped = ? WHERE id = ?", .blob(anew), .integer(Int64(id.rawValue)))
      try ledger.remove(.key(id, tag: wrapped.tag))
      try ledger.insert(.key(id, tag: anew.tag))
      newest[id.purpose] = id.epoch
    }
    for (purpose, epoch) in newest {
      try makeKey(KeyID(purpose, epoch: epoch + 1), by: new, in: tx)
    }
    ledger.newKeys[new.id] = new.key
    return new
  }

  private func record(of id: KeyID, in tx: ReadTransaction) throws -> [UInt8]? {
    try tx.first("SELECT wrapped FROM keys WHERE id = ?", .integer(Int64(id.rawValue))) {
      $0.blob(0)
    }
  }
}
