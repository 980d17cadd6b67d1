// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension ManifestStore {
  /// Counts the store under a new manifest key, wrapped by `root`, and removes the older ones. Returns
  /// how many.
  ///
  /// - Throws: `decode` when the store is not what its manifest says.
  func renewKey(
    _ ledger: ChangeLedger, by root: RootKeys.Root, _ erasure: LogErasure, in tx: WriteTransaction
  ) throws -> Int {
    guard let oldKey = ledger.manifestKey else { throw SodiumError.notAuthentic }
    let (id, key) = try keys.make(
      KeyID(.manifest, epoch: oldKey.id.epoch + 1), by: root, ledger, in: tx)
    let newKey = try ManifestKey(id, key, in: keys.arena)
    try count(ledger, by: newKey, in: tx)
    let gone = try KeyTable.keys(before: newKey.id, in: tx)
    for key in gone { try KeyTable.remove(key.id, tag: key.tag, ledger, in: tx) }
    ledger.owesErasure = true
    tx.onCommit("manifest key") { [ids = gone.map(\.id)] in erasure.retire(ids) }
    return gone.count
  }

  /// Puts the same store under the new key into the ledger.
  private func count(
    _ ledger: ChangeLedger, by newKey: ManifestKey, in tx: WriteTransaction
  ) throws {
    guard let expected = ledger.manifest, let oldKey = ledger.manifestKey else { return }
    var found = Manifest()
    var rekeyed = Manifest()
    do {
      try ManifestElement.forEach(in: tx, keys.health) { element in
        try found.insert(element, key: oldKey.sum)
        try rekeyed.insert(element, key: newKey.sum)
      }
    } catch let error where StoreHealth.isDamage(error) {
      // A row that cannot even be read as one: found says less than was expected.
    }
    guard found.hasSameContents(as: expected) else {
      keys.health.fail(.manifestMismatch)
      throw KeychainError(.decode, "\(StoreCondition.Reason.manifestMismatch)")
    }
    rekeyed.generation = expected.generation
    ledger.manifest = rekeyed
    ledger.manifestKey = newKey
  }
}
