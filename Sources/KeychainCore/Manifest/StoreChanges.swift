// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What every transaction that changes the store ends with, whoever changed what:
///
///     before COMMIT   the audit's records, then the manifest
///     on COMMIT       the new keys are published, before anyone else can write
///     after COMMIT    the anchor, and the erasure of old secrets where it is not left to `tick`
extension Keychain {
  /// The transaction's ledger with the manifest in it; from here on the commit writes a new one.
  func ledger(_ tx: WriteTransaction) throws -> ChangeLedger {
    let ledger = ChangeLedger.of(tx)
    if ledger.manifest != nil { return ledger }
    (ledger.manifest, ledger.manifestKey) = try manifest.read(in: tx)
    tx.beforeCommit(ChangeLedger.key) { [auditLog, manifest] tx in
      try auditLog.append(ledger, in: tx)
      try manifest.write(ledger, in: tx)
    }
    tx.onCommit(ChangeLedger.key) { [keys] in keys.publish(ledger.newKeys) }
    tx.afterCommit(ChangeLedger.key) { self.committed(ledger) }
    return ledger
  }

  private func committed(_ ledger: ChangeLedger) {
    let owes = erasure.committed(owing: ledger.owesErasure)
    if let manifest = ledger.manifest { anchor.noteCommit(manifest.generation) }
    // What a reader still holds back is tried again at the next change, tick or close.
    if owes, !options.defersUpkeep { _ = try? erasure.run() }
  }
}

/// What a transaction has changed so far: the manifest that its commit will write, keys that are
/// not committed yet, and whether old secrets have to be erased after it.
///
/// Every transaction has one (`of`). It counts changes once `Keychain.ledger` has put the manifest in it.
final class ChangeLedger: TransactionState {
  static let key = "keychain"

  static func of(_ tx: WriteTransaction) -> ChangeLedger { tx.state(key) { ChangeLedger() } }

  /// Nil until the first change reads it.
  var manifest: Manifest?
  /// What the elements are hashed with, and the manifest is sealed with.
  var manifestKey: ManifestKey?
  var newKeys: [KeyID: GuardedKey] = [:]
  var owesErasure = false
  var audit = AuditDraft()

  func savepoint() -> () -> Void {
    let (manifest, newKeys, owesErasure) = (manifest, newKeys, owesErasure)
    let manifestKey = manifestKey
    let mark = audit.mark
    return {
      self.manifest = manifest
      self.manifestKey = manifestKey
      self.newKeys = newKeys
      self.owesErasure = owesErasure
      self.audit.rewind(to: mark)
    }
  }

  func insert(_ element: ManifestElement) throws {
    guard let manifestKey else { throw SodiumError.notAuthentic }
    try manifest?.insert(element, key: manifestKey.sum)
  }

  func remove(_ element: ManifestElement) throws {
    guard let manifestKey else { throw SodiumError.notAuthentic }
    try manifest?.remove(element, key: manifestKey.sum)
  }
}
