// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What `renewRootKeys` does in its transaction.
extension Keychain {
  /// Wraps every key by the new roots; the session key's own record goes.
  ///
  /// - Returns: the classes whose device key is not here, and why.
  func rewrapRecords(
    from old: RootKeys, to new: RootKeys, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> [Accessibility: DeviceKeyAbsence] {
    var away: [Accessibility: DeviceKeyAbsence] = [:]
    var here: Set<Accessibility> = []
    for (id, wrapped) in try records(in: tx) {
      guard id.purpose != .session else {
        try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(id.rawValue)))
        try ledger.remove(.key(id, tag: wrapped.tag))
        continue
      }
      let absence = try rewrap(
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
  /// key that the old roots reach. The older ones stay for what they have sealed, until `retireKeys`.
  ///
  /// - Parameter away: classes that nothing can be added to here. Their next keys come with the device
  ///   key (`currentKey`).
  func makeNextKeys(
    from old: RootKeys, to new: RootKeys, except away: [Accessibility], _ ledger: ChangeLedger,
    in tx: WriteTransaction
  ) throws {
    var ofSession: [KeyID: GuardedKey] = [new.session.id: new.session.key]
    for purpose in Self.renewable + [.audit] {
      guard let newest = try newestKey(purpose, in: tx) else { continue }
      if let accessible = purpose.accessibility, away.contains(accessible) { continue }
      let id = KeyID(purpose, epoch: newest.epoch + 1)
      let key = try arena.randomKey()
      let wrapper = new.wrapper(of: purpose)
      let wrapped = try KeyRecord.wrap(
        key, id: id, store: storeID, by: wrapper.id, wrapper: wrapper.key,
        device: deviceKey(for: id))
      try insertRecord(wrapped, of: id, ledger, in: tx)
      if purpose.isOfSession { ofSession[id] = key } else { ledger.newKeys[id] = key }
    }
    ledger.newKeys[new.master.id] = new.master.key
    let items = try count(in: tx)
    note(.rotationBegun, "\(items) items", ledger)
    ledger.owesErasure = true
    tx.onCommit("roots") { [ids = [old.master.id, old.session.id]] in
      self.state.withLock { state in
        let isUnlocked = state.ring.isUnlocked
        for (id, key) in ofSession {
          if isUnlocked {
            state.ring.add(key, as: id)
          } else if id.purpose != .session {
            state.ring.know(id)
          }
        }
        state.ring.retire(ids)
        state.hasBegunRotation = true
      }
    }
  }

  /// New rows, so that their numbers tell other processes that the roots are others now.
  func replaceSlots(
    by rows: [(row: KeySlotRow, key: GuardedKey)], _ new: RootKeys, isGuarded: Bool,
    _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    for (row, payload) in try KeySlotRow.all(in: tx) {
      try tx.execute("DELETE FROM key_slots WHERE id = ?", .integer(row.slot.number))
      try ledger.remove(row.manifestElement(number: row.slot.number, payload: payload))
    }
    for (row, key) in rows {
      let roots = row.slot.kind.holdsSession ? [new.master, new.session] : [new.master]
      try ledger.insert(row.insert(roots, store: storeID, slotKey: key, in: tx))
    }
    guard !isGuarded else { return }
    let wrapped = try KeyRecord.wrap(
      new.session.key, id: new.session.id, store: storeID, by: new.master.id,
      wrapper: new.master.key)
    try insertRecord(wrapped, of: new.session.id, ledger, in: tx)
  }

  func count(ofClass accessible: Accessibility, in tx: ReadTransaction) throws -> Int {
    let purpose = accessible.keyPurpose
    let count = try tx.first(
      "SELECT count(*) FROM items WHERE class_key BETWEEN ? AND ?",
      .integer(Int64(KeyID(purpose, epoch: 0).rawValue)),
      .integer(Int64(KeyID(purpose, epoch: .max).rawValue))
    ) { Int($0.integer(0)) }
    return count ?? 0
  }
}
