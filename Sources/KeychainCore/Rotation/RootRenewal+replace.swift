// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What is done in the transaction.
extension RootRenewal {
  /// Wraps every key by the new roots; the session key's own record goes.
  ///
  /// - Returns: the classes whose device key is not here, and why.
  func rewrapRecords(
    from old: RootKeys, to new: RootKeys, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> [Accessibility: DeviceKeyAbsence] {
    var away: [Accessibility: DeviceKeyAbsence] = [:]
    var here: Set<Accessibility> = []
    for (id, wrapped) in try KeyTable.records(in: tx) {
      guard id.purpose != .session else {
        try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
        continue
      }
      let absence = try keys.rewrap(
        wrapped, of: id, from: old.wrapper(of: id.purpose).key, to: new.wrapper(of: id.purpose),
        ledger, in: tx)
      guard let accessible = id.purpose.accessibility else { continue }
      guard let absence else {
        here.insert(accessible)
        continue
      }
      // What may be the right one counts more than what is not.
      if case .unusable? = away[accessible] { continue }
      away[accessible] = absence
    }
    // Not to be deleted for some of its keys.
    for accessible in away.keys where here.contains(accessible) {
      away[accessible] = .unusable(DeviceKey.isAnother())
    }
    return away
  }

  /// The next key for attributes, index, audit and every class, so that nothing more is written under a
  /// key that the old roots reach. The older ones stay for what they have sealed, until `Rotation` removes them.
  ///
  /// - Parameter away: classes that nothing can be added to here. Their next keys come with the device
  ///   key (`KeyRing.current`).
  func makeNextKeys(
    from old: RootKeys, to new: RootKeys, except away: [Accessibility], _ ledger: ChangeLedger,
    in tx: WriteTransaction
  ) throws {
    var ofSession: [KeyID: GuardedKey] = [new.session.id: new.session.key]
    for purpose in Rotation.renewable + [.audit] {
      guard let newest = try KeyTable.newest(purpose, in: tx) else { continue }
      if let accessible = purpose.accessibility, away.contains(accessible) { continue }
      let id = KeyID(purpose, epoch: newest.epoch + 1)
      let key = try keys.arena.randomKey()
      let wrapper = new.wrapper(of: purpose)
      let wrapped = try KeyRecord.wrap(
        key, id: id, store: slots.store, by: wrapper.id, wrapper: wrapper.key,
        device: keys.deviceKey(for: id))
      try KeyTable.insert(wrapped, of: id, ledger, in: tx)
      if purpose.isOfSession { ofSession[id] = key } else { ledger.newKeys[id] = key }
    }
    ledger.newKeys[new.master.id] = new.master.key
    let count = try items.search.count(of: nil, in: tx)
    audit.note(.rotationBegun, "\(count) items", ledger)
    ledger.owesErasure = true
    tx.onCommit("roots") { [ids = [old.master.id, old.session.id]] in
      keys.loaded.withLock { loaded in
        let isUnlocked = loaded.isUnlocked
        for (id, key) in ofSession {
          if isUnlocked {
            loaded.add(key, as: id)
          } else if id.purpose != .session {
            loaded.know(id)
          }
        }
      }
      changes.erasure.retire(ids)
      rotation.wasBegun()
    }
  }

  /// New rows, so that their numbers tell other processes that the roots are others now.
  func replaceSlots(
    by rows: [NewSlot], _ new: RootKeys, isGuarded: Bool,
    _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    for (row, payload) in try KeySlotRow.all(in: tx) {
      try tx.execute("DELETE FROM key_slots WHERE id = ?", .integer(row.slot.number))
      try ledger.remove(row.manifestElement(number: row.slot.number, payload: payload))
    }
    for (row, key) in rows {
      let roots = row.slot.kind.holdsSession ? [new.master, new.session] : [new.master]
      try ledger.insert(row.insert(roots, store: slots.store, slotKey: key, in: tx))
    }
    guard !isGuarded else { return }
    let wrapped = try KeyRecord.wrap(
      new.session.key, id: new.session.id, store: slots.store, by: new.master.id,
      wrapper: new.master.key)
    try KeyTable.insert(wrapped, of: new.session.id, ledger, in: tx)
  }
}
