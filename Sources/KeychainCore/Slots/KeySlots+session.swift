// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The session key in slots and beside the other keys: it has a record of its own as long as no slot guards it.
extension KeySlots {
  /// The session key for a slot that guards it. Where none did, it is a new one, and so is every class key that
  /// it wraps: of what is in these classes from now on, who has a key file and an older copy of the store opens
  /// nothing.
  ///
  /// - Parameter wroteDeviceKey: called when the file of the device key was lost, and is written again.
  func sessionToGuard(
    _ ledger: ChangeLedger, _ wroteDeviceKey: () -> Void, in tx: WriteTransaction
  ) throws -> RootKeys.Root {
    let old = RootKeys(master: try keys.root(.master), session: try keys.root(.session))
    guard let wrapped = try KeyTable.record(of: old.session.id, in: tx) else { return old.session }
    let new = RootKeys(master: old.master, session: try old.next(in: keys.arena).session)
    ledger.newKeys[new.session.id] = new.session.key
    let classes = Accessibility.allCases.filter { $0.wrapper == .session }
    let report = try KeyRenewal(items: items, from: old, to: new).run(
      classes.map(\.keyPurpose), deletingDeviceItems: false, ledger, in: tx)
    if report.hasWrittenDeviceKey { wroteDeviceKey() }
    try KeyTable.remove(old.session.id, tag: wrapped.tag, ledger, in: tx)
    keys.loaded.withLock { $0.prepare(new, ledger.newKeys) }
    return new.session
  }

  /// Puts the session key beside the others, for as long as no slot guards it.
  func insertSessionRecord(
    _ session: RootKeys.Root, by master: RootKeys.Root, _ ledger: ChangeLedger,
    in tx: WriteTransaction
  ) throws {
    let wrapped = try KeyRecord.wrap(
      session.key, id: session.id, store: store, by: master.id, wrapper: master.key)
    try KeyTable.insert(wrapped, of: session.id, ledger, in: tx)
  }
}
