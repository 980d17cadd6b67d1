import SQLiteDatabase
import SodiumCrypto

/// Rotation: new root keys, new keys of every kind, and every item and record sealed again under them, in one
/// transaction. A crash leaves the store as it was or as it is to be.
///
/// The keys of before open nothing in the store afterwards but the audit's earlier records, which keep their key.
extension Keychain {
  /// Seals the root keys into the slots that open with `secrets`; all other slots are removed. Others who
  /// write wait meanwhile, some 50 µs an item; readers go on.
  ///
  /// The store may be locked: it stays so.
  ///
  /// A device key that is in use and whose file is lost is written again.
  ///
  /// - Parameters:
  ///   - deletesDeviceItems: deletes the items for this device only whose device key is gone, or another's.
  ///   - actor: for whom, in the audit; nil is the keychain's own auditor.
  /// - Throws: `authFailed` when one of `secrets` opens no slot; `param` when there is a passphrase and none
  ///   among them; `notAvailable` when there are items whose device key is not here; `decode` when an item
  ///   does not open, or the store is not what its manifest says.
  @discardableResult package func rotateKeys(
    _ secrets: [KeySlotSecret], deletingDeviceItems deletesDeviceItems: Bool = false, for actor: String? = nil
  ) throws(KeychainError) -> RotationReport {
    try health.checkWritable()
    return try KeychainError.wrap("renewing the keys") {
      guard !secrets.isEmpty else { throw KeychainError(.param, "a store needs a key file or a passphrase to open it") }
      let known = try slots()
      let (rows, kept, opened) = try newSlots(for: secrets, known)
      let isGuarded = known.contains { $0.kind.guardsSession }
      guard !isGuarded || rows.contains(where: { $0.slot.kind.guardsSession }) else {
        throw KeychainError(.param, "the passphrase is needed too: give it, or remove its slot first")
      }
      let report = try write { tx in
        guard try KeySlot.all(in: tx) == known else {
          throw KeychainError(.notAvailable, "the key slots have changed meanwhile: try again", isTemporary: true)
        }
        let ledger = try ledger(tx)
        if let actor { ledger.audit.actor = actor }
        let old = RootKeys(master: try keys.root(.master), session: try session(opened))
        let new = try old.next(in: keys.arena)
        for root in [new.master, new.session] { ledger.newKeys[root.id] = root.key }
        var report = try KeyRenewal(keychain: self, from: old, to: new).run(
          [.metadata, .blindIndex, .records] + Accessibility.allCases.map(\.keyPurpose),
          deletingDeviceItems: deletesDeviceItems, ledger, in: tx)
        report.removedSlots = known.filter { !kept.contains($0.number) }
        try renewAuditKey(from: old, to: new, ledger, in: tx)
        try replaceSlots(by: rows, new, isGuarded: isGuarded, ledger, in: tx)
        auditLog.note(.rotated, "\(report.items) items, \(report.records) records", ledger)
        for slot in report.removedSlots { auditLog.note(.slotRemoved, "\(slot.kind) \(slot.label)", ledger) }
        // Last: what was sealed by the old manifest key must not be taken for the store's word.
        try manifest.renewKey(ledger, by: new.master, erasure, in: tx)
        keys.loaded.withLock { $0.prepare(new, ledger.newKeys) }
        return report
      }
      // What has come of it is reported, whatever the disk does now: the next tick tries again.
      _ = try? erasure.run()
      return report
    }
  }

  private typealias NewSlot = (slot: KeySlot, key: GuardedKey)

  /// A new slot for each that opens with one of `secrets`, the numbers of those, and what was in them.
  /// Not in the transaction: a passphrase takes its time.
  private func newSlots(for secrets: [KeySlotSecret], _ known: [KeySlot]) throws -> (
    rows: [NewSlot], kept: Set<Int64>, roots: [KeyID: GuardedKey]
  ) {
    var kept: Set<Int64> = []
    var rows: [NewSlot] = []
    var roots: [KeyID: GuardedKey] = [:]
    for secret in secrets {
      let opened = try opened(by: secret)
      let numbers = opened.map(\.slot.number)
      guard let slot = known.first(where: { numbers.contains($0.number) }) else {
        throw KeychainError(.authFailed, "no key slot of the store opens with \(secret.words)")
      }
      guard kept.isDisjoint(with: numbers) else { continue }
      kept.formUnion(numbers)
      for each in opened { roots.merge(each.roots) { first, _ in first } }
      let new = try KeySlot(new: slot.kind, label: slot.label, options: options)
      rows.append((new, try new.slotKey(from: secret.bytes(), in: keys.arena)))
    }
    return (rows, kept, roots)
  }

  /// The session key, from memory or from a slot.
  private func session(_ roots: [KeyID: GuardedKey]) throws -> RootKeys.Root {
    if let session = try? keys.root(.session) { return session }
    guard let session = roots.first(where: { $0.key.purpose == .session }) else { throw keys.locked() }
    return (session.key, session.value)
  }

  /// The next key of the audit. The older ones stay, because their records do.
  private func renewAuditKey(from old: RootKeys, to new: RootKeys, _ ledger: ChangeLedger, in tx: WriteTransaction)
    throws
  {
    for (id, wrapped) in try KeyTable.records(in: tx) where id.purpose == .audit {
      let key = try wrapped.withUnsafeBytes {
        try KeyRecord.unwrap($0, id: id, store: storeID, wrapper: old.master.key, in: keys.arena)
      }
      let rewrapped = try KeyRecord.wrap(key, id: id, store: storeID, by: new.master.id, wrapper: new.master.key)
      try KeyTable.replace(wrapped, by: rewrapped, of: id, ledger, in: tx)
    }
    guard let newest = try KeyTable.newest(.audit, in: tx) else { return }
    try keys.make(KeyID(.audit, epoch: newest.epoch + 1), by: new.master, ledger, in: tx)
  }

  /// New rows, so that their numbers show other processes that the roots are others now.
  private func replaceSlots(
    by rows: [NewSlot], _ new: RootKeys, isGuarded: Bool, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    for slot in try KeySlot.all(in: tx) { try slot.delete(ledger, in: tx) }
    for case (var slot, let key) in rows {
      let roots = slot.kind.holdsSession ? [new.master, new.session] : [new.master]
      try slot.insert(roots, store: storeID, slotKey: key, in: tx)
      try ledger.insert(slot.manifestElement)
    }
    if let id = try KeyTable.newest(.session, in: tx), let wrapped = try KeyTable.record(of: id, in: tx) {
      try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
    }
    guard !isGuarded else { return }
    try insertSessionRecord(new.session, by: new.master, ledger, in: tx)
  }
}

/// What a rotation came to.
package struct RotationReport: Equatable, Sendable {
  /// Items that are under new keys: all that there are.
  package var items = 0
  /// Records, likewise.
  package var records = 0
  /// Slots that are gone, because nothing that opens them was given.
  package var removedSlots: [KeySlot] = []
  /// Items for this device only that were deleted, as it was asked for.
  package var deletedItems = 0
  /// The device key that was in use had no file any more, and has one again.
  package var hasWrittenDeviceKey = false
}
