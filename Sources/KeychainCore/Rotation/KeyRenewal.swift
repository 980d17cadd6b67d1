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
        id.purpose.accessibility?.isThisDeviceOnly == true && (try? open(wrapped, id, device: device)) != nil
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
    if purposes.contains(.records) { report.records = try keychain.resealRecords(ledger, in: tx) }
    ledger.owesErasure = true
    let retired = Set(old.keys).union([from.master.id, from.session.id]).subtracting([to.master.id, to.session.id])
    tx.onCommit("renewed keys") { [erasure = keychain.erasure] in erasure.retire(retired) }
    return report
  }

  private func open(_ wrapped: [UInt8], _ id: KeyID, device: GuardedKey? = nil) throws -> GuardedKey {
    try wrapped.withUnsafeBytes {
      try KeyRecord.unwrap(
        $0, id: id, store: keychain.storeID, wrapper: from.wrapper(of: id.purpose).key, device: device, in: keys.arena)
    }
  }

  /// Nil when there is no device key, or when it is another's.
  ///
  /// - Throws: what is wrong with something in its place that may be the right one.
  private func openOfDevice(_ wrapped: [UInt8], _ id: KeyID) throws -> GuardedKey? {
    let device: GuardedKey?
    do { device = try keys.deviceKey(for: id) } catch {
      guard case .missing = try keys.deviceKeyFile() else { throw error }
      return nil
    }
    do { return try open(wrapped, id, device: device) } catch let error as KeychainError
      where error.status == .notAvailable
    { return nil }
  }

  private func delete(_ classes: [Accessibility], isWanted: Bool, _ ledger: ChangeLedger, in tx: WriteTransaction)
    throws -> Int
  {
    let count = try classes.reduce(0) { try $0 + keychain.count(ofClass: $1, in: tx) }
    guard count == 0 || isWanted else {
      throw KeychainError(
        .notAvailable,
        "\(count) items for this device only need their device key, which is not at \(keys.devicePath):"
          + " put it back, or delete them with `threadkeeper keys rotate --delete-device-items`")
    }
    for accessible in classes {
      try keychain.deleteClass(accessible, ledger, in: tx)
      keychain.auditLog.note(.deleted, "the items and keys of a device that is gone, \(accessible)", ledger)
    }
    return count
  }

  /// Seals the items again whose class keys are renewed, and says how many.
  ///
  /// - Throws: `decode` when one of them does not open, or its class key has no record.
  private func reseal(
    _ purposes: [KeyPurpose], _ old: [KeyID: GuardedKey], _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws -> Int {
    try keychain.reseal("items", "SELECT id, class_key FROM items WHERE id > ? ORDER BY id LIMIT 1", in: tx) {
      rowID, classKey in
      let id = KeyID(rawValue: UInt32(truncatingIfNeeded: classKey))
      // With the metadata key all rows are renewed: one that is passed over would not open any more.
      guard purposes.contains(.metadata) || purposes.contains(id.purpose) else { return false }
      let stored = try keychain.row(rowID, in: tx) { row, columns in
        guard let key = old[id] else { throw keychain.health.corrupt(row: rowID, "its class key") }
        let item = try keychain.item(from: columns, in: tx)
        return (item, row, try keychain.secret(of: item, from: columns, key: key, in: tx))
      }
      guard case (var item, let row, let secret)? = stored else {
        throw keychain.health.corrupt(row: rowID, "its place in the table")
      }
      // The attributes are indexed again, too.
      let next = try keys.current(id.purpose, ledger, in: tx)
      try keychain.write(&item, over: row, (secret, next), ledger, in: tx)
      return true
    }
  }
}
