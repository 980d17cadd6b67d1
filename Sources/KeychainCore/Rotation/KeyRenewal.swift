// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The next keys of some purposes, and what the old ones had sealed sealed again under them, in the caller's
/// transaction. None of the old keys stays: a key or an item that does not open ends it.
struct KeyRenewal {
  let keychain: Keychain
  /// What wraps the keys, and what is to.
  let from: RootKeys
  let to: RootKeys

  private var keys: KeyRing { keychain.keys }

  /// - Parameters:
  ///   - purposes: those of attributes, index and records together with all classes, or classes alone.
  ///   - deletesDeviceItems: deletes the items of classes whose device key is gone, or another's.
  /// - Throws: `notAvailable` when there are such items, and they are not to be deleted; `decode` when an item
  ///   does not open.
  func run(
    _ purposes: [KeyPurpose], deletingDeviceItems deletesDeviceItems: Bool, _ ledger: ChangeLedger,
    in tx: WriteTransaction
  ) throws -> RotationReport {
    var report = RotationReport()
    let records = try KeyTable.records(in: tx)
    report.hasWrittenDeviceKey = try keys.confirmDeviceKey { device in
      records.contains { id, wrapped in
        id.purpose.accessibility?.isThisDeviceOnly == true
          && (try? open(wrapped, id, device: device)) != nil
      }
    }
    var old: [KeyID: GuardedKey] = [:]
    var gone: [Accessibility] = []
    for (id, wrapped) in records where purposes.contains(id.purpose) {
      if let accessible = id.purpose.accessibility, accessible.isThisDeviceOnly {
        old[id] = try openOfDevice(wrapped, id)
        if old[id] == nil { gone.append(accessible) }
      } else {
        old[id] = try open(wrapped, id)
      }
    }
    report.deletedItems = try delete(gone, isWanted: deletesDeviceItems, ledger, in: tx)
    for (id, wrapped) in records where old[id] != nil {
      let next = KeyID(id.purpose, epoch: id.epoch + 1)
      try keys.make(next, by: to.wrapper(of: id.purpose), ledger, in: tx)
      try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
    }
    report.items = try reseal(purposes, old, ledger, in: tx)
    if purposes.contains(.records) {
      report.records = try keychain.resealRecords(ledger, in: tx)
    }
    ledger.owesErasure = true
    let retired = Set(old.keys).union([from.master.id, from.session.id])
      .subtracting([to.master.id, to.session.id])
    tx.onCommit("renewed keys") { [erasure = keychain.erasure] in erasure.retire(retired) }
    return report
  }

  private func open(_ wrapped: [UInt8], _ id: KeyID, device: GuardedKey? = nil) throws -> GuardedKey
  {
    try wrapped.withUnsafeBytes {
      try KeyRecord.unwrap(
        $0, id: id, store: keychain.storeID, wrapper: from.wrapper(of: id.purpose).key,
        device: device,
        in: keys.arena)
    }
  }

  /// Nil when there is no device key, or when it is another's.
  ///
  /// - Throws: what is wrong with something in its place that may be the right one.
  private func openOfDevice(_ wrapped: [UInt8], _ id: KeyID) throws -> GuardedKey? {
    let device: GuardedKey?
    do {
      device = try keys.deviceKey(for: id)
    } catch {
      guard case .missing = try keys.deviceKeyFile() else { throw error }
      return nil
    }
    do {
      return try open(wrapped, id, device: device)
    } catch let error as KeychainError where error.status == .notAvailable {
      return nil
    }
  }

  private func delete(
    _ classes: [Accessibility], isWanted: Bool, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> Int {
    let count = try classes.reduce(0) { try $0 + keychain.count(ofClass: $1, in: tx) }
    guard count == 0 || isWanted else {
      throw KeychainError(
        .notAvailable,
        "\(count) items for this device only need their device key, which is not at \(keys.devicePath):"
          + " put it back, or delete them with `threadkeeper keys rotate --delete-device-items`")
    }
    for accessible in classes {
      try keychain.deleteClass(accessible, ledger, in: tx)
      keychain.auditLog.note(
        .deleted, "the items and keys of a device that is gone, \(accessible)", ledger)
    }
    return count
  }
}

/// Row by row: no more than one is in memory.
extension KeyRenewal {
  /// Seals the items again whose class keys are renewed, and says how many.
  ///
  /// - Throws: `decode` when one of them does not open, or its class key has no record.
  private func reseal(
    _ purposes: [KeyPurpose], _ old: [KeyID: GuardedKey], _ ledger: ChangeLedger,
    in tx: WriteTransaction
  ) throws -> Int {
    var (count, damaged, last) = (0, 0, Int64.min)
    while let stored = try StoredRow(after: last, in: tx) {
      last = stored.rowID
      // With the metadata key all rows are renewed: one that is passed over would not open any more.
      guard purposes.contains(.metadata) || purposes.contains(stored.classKey.purpose) else {
        continue
      }
      do {
        guard let classKey = old[stored.classKey] else {
          throw keychain.health.corrupt(row: stored.rowID, "the key")
        }
        try write(resealed(stored, classKey, ledger, in: tx), over: stored, ledger, in: tx)
        count += 1
      } catch let error as KeychainError where error.status == .decode {
        damaged += 1
      }
    }
    guard damaged == 0 else {
      throw KeychainError(
        .decode,
        "\(damaged) items do not open, so all keeps its keys: `threadkeeper store verify` names them;"
          + " restore a backup")
    }
    return count
  }

  /// The attributes sealed and indexed again, the item key wrapped again. The secret stays.
  private func resealed(
    _ stored: StoredRow, _ classKey: GuardedKey, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> ItemRow {
    guard let itemClass = ItemClass(rawValue: stored.itemClass) else {
      throw keychain.health.corrupt(row: stored.rowID, "its class")
    }
    let metadata = try stored.metadata.withUnsafeBytes { sealed in
      try keychain.openMetadata(
        sealed, row: stored.rowID, id: stored.id, itemClass, version: stored.version, in: tx)
    }
    var row = ItemRow(
      id: stored.id, itemClass: itemClass, version: stored.version, metadata: metadata)
    row.secretTag = stored.secretTag
    let next = try keys.current(stored.classKey.purpose, ledger, in: tx)
    try stored.wrappedKey.withUnsafeBytes { wrapped in
      try keychain.withItemKey(
        wrapped, row: stored.rowID, id: stored.id, classKey: stored.classKey, key: classKey, in: tx
      ) { try row.wrap(of: keychain.storeID, itemKey: $0, by: next) }
    }
    try keychain.sealMetadata(of: &row, ledger, in: tx)
    return row
  }

  private func write(
    _ row: ItemRow, over stored: StoredRow, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    try tx.execute(
      """
      UPDATE items SET class_key = ?, wrapped_key = ?, metadata = ?, index_epoch = ?,
        primary_index = ?, index_1 = ?, index_2 = ?
      WHERE id = ?
      """,
      .integer(Int64(row.classKey.rawValue)), .blob(row.wrappedKey), .blob(row.sealedMetadata),
      .integer(Int64(row.indexEpoch)), .blob(row.primaryIndex), .optional(row.index1),
      .optional(row.index2), .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
    try ledger.insert(row.manifestElement(rowID: stored.rowID))
  }
}
