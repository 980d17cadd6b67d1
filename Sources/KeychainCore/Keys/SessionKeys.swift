// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The session key in slots and beside the other keys: it has a record of its own as long as no slot guards it.
struct SessionKeys {
  let keys: KeyRing

  /// The session key for a slot that is to hold it: where no slot held it before, a new one.
  ///
  /// - Parameter wroteDeviceKey: called when the file of the device key was lost, and is written again.
  func forSlot(
    _ ledger: ChangeLedger, _ wroteDeviceKey: () -> Void, in tx: WriteTransaction
  ) throws -> RootKeys.Root {
    let session = try keys.root(.session)
    guard let wrapped = try KeyTable.record(of: session.id, in: tx) else { return session }
    let roots = RootKeys(master: try keys.root(.master), session: session)
    let records = try KeyTable.records(in: tx)
    let hasWritten = try keys.confirmDeviceKey { device in
      records.contains { keys.opens($1, $0, roots.wrapper(of: $0.purpose).key, device: device) }
    }
    if hasWritten { wroteDeviceKey() }
    let new = try renew(session.id, ledger, in: tx)
    try KeyTable.remove(session.id, tag: wrapped.tag, ledger, in: tx)
    return new
  }

  /// The session key beside the others, as long as no slot holds it.
  func insertRecord(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    let session = try keys.root(.session)
    let master = try keys.root(.master)
    let wrapped = try KeyRecord.wrap(
      session.key, id: session.id, store: keys.store, by: master.id, wrapper: master.key)
    try KeyTable.insert(wrapped, of: session.id, ledger, in: tx)
  }

  /// Makes the next session key, wraps with it what the old one wrapped, and gives every class
  /// among it its next key. Whoever has a key file and an older copy of the store has the old keys;
  /// of what is added or changed from now on, they open nothing.
  private func renew(
    _ old: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> RootKeys.Root {
    let new = (id: KeyID(.session, epoch: old.epoch + 1), key: try keys.arena.randomKey())
    let roots = RootKeys(master: try keys.root(.master), session: new)
    keys.loaded.withLock { $0.prepare(roots) }
    var newest: [KeyPurpose: UInt32] = [:]
    let session = try keys.root(.session)
    for (id, wrapped) in try KeyTable.records(in: tx) {
      guard try wrapped.withUnsafeBytes({ try SealedPart.keyID(of: $0) }) == old else { continue }
      let absence = try keys.rewrap(wrapped, of: id, from: session.key, to: new, ledger, in: tx)
      // Without its device key nothing is added to a class; its next key comes with it.
      newest[id.purpose] = absence == nil ? id.epoch : nil
    }
    for (purpose, epoch) in newest {
      try keys.make(KeyID(purpose, epoch: epoch + 1), by: new, ledger, in: tx)
    }
    ledger.newKeys[new.id] = new.key
    return new
  }
}
