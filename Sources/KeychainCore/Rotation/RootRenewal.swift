// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// New root keys, for a store whose keys somebody may have.
struct RootRenewal {
  let slots: KeySlots
  let rotation: Rotation

  var keys: KeyRing { slots.keys }
  var items: ItemTable { slots.items }
  var changes: StoreChanges { slots.changes }
  var audit: AuditLog { slots.changes.audit }

  /// Makes new root keys, wraps with them what the old ones wrapped, makes the next key of every kind,
  /// and seals the roots into the slots that open with `secrets`; all other slots are removed. One
  /// transaction: a crash leaves the old roots or the new ones.
  ///
  /// Who had a way into an older copy of the store has the old roots and all keys of that time. They open
  /// nothing that is written from the commit on. What was written before gets its new keys by
  /// `Rotation`. One that was interrupted is finished first.
  ///
  /// The store may be locked, if `secrets` have the session key: it stays locked.
  ///
  /// A device key that is in use and whose file is lost is written again.
  ///
  /// - Parameters:
  ///   - mayDelete: deletes the items for this device only whose device key is gone, or another's, if it
  ///     agrees to their number. Otherwise they wait for it.
  ///   - actor: for whom, in the audit; nil is the keychain's own auditor.
  /// - Throws: `notAvailable` while a rotation is under way; `authFailed` when one of `secrets` opens no slot; `param` when there is a passphrase and
  ///   none among them; `decode` when the store is not what its manifest says; `userCanceled` when
  ///   `mayDelete` does not agree; `notAvailable` when items were to be deleted and the device key is there,
  ///   but cannot be used.
  func run(
    _ secrets: [KeySlotSecret], deletingItemsOfAnotherDevice mayDelete: ((Int) -> Bool)?,
    for actor: String?
  ) throws(KeychainError) -> RootRenewalReport {
    try slots.health.checkWritable()
    return try rotation.alone {
      guard !secrets.isEmpty else {
        throw KeychainError(.param, "a store needs a key file or a passphrase to open it")
      }
      let known = try slots.all()
      let (rows, kept, roots) = try newSlots(for: secrets, known)
      let isGuarded = known.contains { $0.kind.guardsSession }
      guard !isGuarded || rows.contains(where: { $0.row.slot.kind.guardsSession }) else {
        throw KeychainError(
          .param, "the passphrase is needed too: give it, or remove its slot first")
      }
      try rotation.finishInterrupted()
      let report = try slots.transactions.write { tx in
        guard try KeySlotRow.all(in: tx).map(\.row.slot) == known else {
          throw KeychainError(
            .notAvailable, "the key slots have changed meanwhile: try again", isTemporary: true)
        }
        let ledger = try changes.ledger(tx)
        if let actor { ledger.audit.actor = actor }
        let old = try RootKeys(master: keys.root(.master), session: session(roots, in: tx))
        let new = try old.next(in: keys.arena)
        keys.loaded.withLock { $0.prepare(new) }
        var report = RootRenewalReport()
        report.removedSlots = known.filter { !kept.contains($0.number) }
        audit.note(.rootsRenewed, "by new ones", ledger)
        for slot in report.removedSlots {
          audit.note(.slotRemoved, "\(slot.kind) \(slot.label)", ledger)
        }
        let records = try KeyTable.records(in: tx)
        report.hasWrittenDeviceKey = try keys.confirmDeviceKey { device in
          records.contains { keys.opens($1, $0, old.wrapper(of: $0.purpose).key, device: device) }
        }
        let away = try rewrapRecords(from: old, to: new, ledger, in: tx)
        if let mayDelete {
          try deleteClasses(away, mayDelete, &report, ledger, in: tx)
        } else {
          for accessible in away.keys {
            report.itemsOfAnotherDevice += try items.search.count(ofClass: accessible, in: tx)
          }
          report.deviceKeyProblem = away.values.lazy.compactMap(\.problem).first
        }
        try makeNextKeys(from: old, to: new, except: Array(away.keys), ledger, in: tx)
        try replaceSlots(by: rows, new, isGuarded: isGuarded, ledger, in: tx)
        // What was sealed by the manifest key of before must not be taken for the store's word.
        _ = try changes.manifest.renewKey(ledger, by: new.master, changes.erasure, in: tx)
        return report
      }
      // What has come of it must be told, whatever the disk does now; the next tick or step tries again.
      _ = try? changes.erasure.run()
      return report
    }
  }

  private func deleteClasses(
    _ away: [Accessibility: DeviceKeyAbsence], _ mayDelete: (Int) -> Bool,
    _ report: inout RootRenewalReport, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    var count = 0
    for (accessible, absence) in away {
      if case .unusable(let reason) = absence { throw reason }
      count += try items.search.count(ofClass: accessible, in: tx)
    }
    guard count == 0 || mayDelete(count) else {
      throw KeychainError(.userCanceled, "\(count) items for this device only would be deleted")
    }
    for accessible in Accessibility.allCases where away[accessible] != nil {
      report.deletedItems += try items.deleteClass(accessible, ledger, in: tx)
      audit.note(.deleted, "the items and keys of a device that is gone, \(accessible)", ledger)
    }
  }

  typealias NewSlot = (row: KeySlotRow, key: GuardedKey)

  /// A new slot for each that opens with one of `secrets`, the numbers of those, and what was in them.
  /// Not in the transaction: a passphrase takes its time.
  private func newSlots(
    for secrets: [KeySlotSecret], _ known: [KeySlot]
  ) throws -> (rows: [NewSlot], kept: Set<Int64>, roots: [KeyID: GuardedKey]) {
    var kept: Set<Int64> = []
    var rows: [NewSlot] = []
    var roots: [KeyID: GuardedKey] = [:]
    for secret in secrets {
      let opened = try slots.opened(by: secret)
      let numbers = opened.map(\.slot.number)
      guard let slot = known.first(where: { numbers.contains($0.number) }) else {
        throw KeychainError(.authFailed, "no key slot of the store opens with \(secret.words)")
      }
      guard kept.isDisjoint(with: numbers) else { continue }
      kept.formUnion(numbers)
      for each in opened { roots.merge(each.roots) { first, _ in first } }
      let row = try KeySlotRow(new: slot.kind, label: slot.label, options: slots.options)
      rows.append((row, try row.slotKey(from: secret.bytes(), in: keys.arena)))
    }
    return (rows, kept, roots)
  }

  /// The session key, from memory, from a slot, or from its record where no passphrase guards it.
  private func session(
    _ roots: [KeyID: GuardedKey], in tx: ReadTransaction
  ) throws -> RootKeys.Root {
    if let session = try? keys.root(.session) { return session }
    if let session = roots.filter({ $0.key.purpose == .session }).max(by: {
      $0.key.epoch < $1.key.epoch
    }) {
      return (session.key, session.value)
    }
    guard let id = try KeyTable.newest(.session, in: tx),
      let wrapped = try KeyTable.record(of: id, in: tx)
    else {
      throw keys.locked()
    }
    let master = try keys.root(.master)
    let key = try wrapped.withUnsafeBytes {
      try KeyRecord.unwrap($0, id: id, store: slots.store, wrapper: master.key, in: keys.arena)
    }
    return (id, key)
  }
}

/// Both root keys, whether the store is locked or not.
struct RootKeys {
  typealias Root = (id: KeyID, key: GuardedKey)

  let master: Root
  let session: Root

  /// What comes after these.
  func next(in arena: KeyArena) throws -> RootKeys {
    RootKeys(
      master: (KeyID(.master, epoch: master.id.epoch + 1), try arena.randomKey()),
      session: (KeyID(.session, epoch: session.id.epoch + 1), try arena.randomKey()))
  }

  /// What wraps the key of a purpose.
  func wrapper(of purpose: KeyPurpose) -> Root {
    purpose.accessibility?.wrapper == .session ? session : master
  }
}

/// What came with new root keys.
package struct RootRenewalReport: Equatable, Sendable {
  /// Slots that are gone, because nothing that opens them was given.
  package var removedSlots: [KeySlot] = []
  /// Items for this device only whose device key is not here. They wait for it, under the keys that they
  /// had.
  package var itemsOfAnotherDevice = 0
  /// What is wrong with the device key that is in its place. Nil when there is none, or nothing waits.
  package var deviceKeyProblem: String?
  /// The device key that was in use had no file any more, and has one again.
  package var hasWrittenDeviceKey = false
  /// Such items that were deleted, as it was asked for.
  package var deletedItems = 0
}
