// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What a transaction has changed so far: the manifest that its commit will write, keys that are
/// not committed yet, and whether old secrets have to be erased after it.
///
/// Every transaction has one (`of`). It counts changes once `StoreChanges.ledger` has put the manifest in it.
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
