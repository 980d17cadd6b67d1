// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Makes new root keys, wraps with them what the old ones wrapped, and seals them into the slots that
  /// open with `secrets`; all other slots are removed. One transaction: a crash leaves the old roots
  /// or the new ones.
  ///
  /// Who had a way into an older copy of the store has the old roots, and with `rotateKeys` after it,
  /// they open nothing that comes from now on.
  ///
  /// - Returns: the slots that were removed.
  /// - Throws: `authFailed` when one of `secrets` opens no slot; `param` when there is a passphrase and
  ///   none among them; `interactionNotAllowed` when the store is locked.
  @discardableResult
  package func renewRootKeys(_ secrets: [KeySlotSecret]) throws(KeychainError) -> [KeySlot] {
    try checkWritable()
    return try KeychainError.wrap("renewing the root keys") {
      guard !secrets.isEmpty else {
        throw KeychainError(.param, "a store needs a key file or a passphrase to open it")
      }
      let known = try slots()
      var kept: Set<Int64> = []
      var rows: [(row: KeySlotRow, key: GuardedKey)] = []
      for secret in secrets {
        let opened = try slotsOpened(by: secret)
        guard let slot = known.first(where: { opened.contains($0.number) }) else {
          throw KeychainError(.authFailed, "no key slot of the store opens with \(secret.words)")
        }
        guard kept.isDisjoint(with: opened) else { continue }
        kept.formUnion(opened)
        let row = try KeySlotRow(new: slot.kind, label: slot.label, options: options)
        rows.append((row, try row.slotKey(from: secret.octets(), in: arena)))
      }
      let isGuarded = known.contains { $0.kind.guardsSession }
      guard !isGuarded || rows.contains(where: { $0.row.slot.kind.guardsSession }) else {
        throw KeychainError(
          .param, "the passphrase is needed too: give it, or remove its slot first")
      }
      try write { tx in
        guard try KeySlotRow.all(in: tx).map(\.row.slot) == known else {
          throw KeychainError(.notAvailable, "the key slots have changed meanwhile: try again")
        }
        try replaceRoots(rows, isGuarded: isGuarded, in: tx)
      }
      _ = try eraseDeletedPages()
      return known.filter { !kept.contains($0.number) }
    }
  }

  private func replaceRoots(
    _ rows: [(row: KeySlotRow, key: GuardedKey)], isGuarded: Bool, in tx: WriteTransaction
  ) throws {
    let ledger = try ledgerForChange(tx)
    let old = (master: try root(.master), session: try root(.session))
    let master = (id: KeyID(.master, epoch: old.master.id.epoch + 1), key: try arena.randomKey())
    let session = (
      id: KeyID(.session, epoch: old.session.id.epoch + 1), key: try arena.randomKey()
    )
    let records = try tx.all("SELECT id, wrapped FROM keys ORDER BY id") {
      (id: KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), wrapped: $0.blob(1))
    }
    for (id, wrapped) in records {
      try ledger.remove(.key(id, tag: wrapped.tag))
      guard id.purpose != .session else {
        try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(id.rawValue)))
        continue
      }
      let wrapper = try wrapped.withUnsafeBytes { try SealedPart.keyID(of: $0) }
      let next = wrapper.purpose == .session ? session : master
      let anew = try KeyRecord.wrap(
        unwrap(wrapped, id: id), id: id, store: storeID, by: next.id, wrapper: next.key,
        device: deviceKey(for: id))
      try tx.execute(
        "UPDATE keys SET wrapped = ? WHERE id = ?", .blob(anew), .integer(Int64(id.rawValue)))
      try ledger.insert(.key(id, tag: anew.tag))
    }
    if !isGuarded {
      let wrapped = try KeyRecord.wrap(
        session.key, id: session.id, store: storeID, by: master.id, wrapper: master.key)
      try insertRecord(wrapped, of: session.id, ledger, in: tx)
    }
    for (row, payload) in try KeySlotRow.all(in: tx) {
      try tx.execute("DELETE FROM key_slots WHERE id = ?", .integer(row.slot.number))
      try ledger.remove(row.manifestElement(number: row.slot.number, payload: payload))
    }
    // New rows, so that their numbers tell other processes that the roots are others now.
    for (row, key) in rows {
      let roots = row.slot.kind.holdsSession ? [master, session] : [master]
      try ledger.insert(row.insert(roots, store: storeID, slotKey: key, in: tx))
    }
    ledger.newKeys[master.id] = master.key
    ledger.newKeys[session.id] = session.key
    ledger.owesErasure = true
    tx.onCommit("roots") { [ids = [old.master.id, old.session.id]] in
      self.state.withLock { $0.ring.retire(ids) }
    }
  }
}
