// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Removes the records of older keys that no row needs, and counts the store under a new manifest
  /// key. Others cannot write meanwhile: it takes some 2 µs an item.
  ///
  /// - Returns: the number of keys that were removed.
  /// - Throws: `decode` when the store is not what its manifest says: counting it anew would hide it.
  func retireKeys(after walk: RotationWalk, in tx: WriteTransaction) throws -> Int {
    let gone = try unneededKeys(in: tx)
    guard !gone.isEmpty else { return 0 }
    let ledger = try ledgerForChange(tx)
    let manifests = try renewManifestKey(ledger, by: root(.master), in: tx)
    try remove(gone, ledger, in: tx)
    tx.onCommit("rotation") { [ids = gone.map(\.id)] in
      self.state.withLock { $0.ring.retire(ids) }
    }
    let count = gone.count + manifests
    note(.rotationFinished, "\(walk.renewed) items, \(count) old keys removed", ledger)
    return count
  }

  /// Counts the store under a new manifest key, wrapped by `root`, and removes the older ones. Returns
  /// how many.
  ///
  /// - Throws: `decode` when the store is not what its manifest says.
  func renewManifestKey(
    _ ledger: ChangeLedger, by root: (id: KeyID, key: GuardedKey), in tx: WriteTransaction
  ) throws -> Int {
    guard let oldKey = ledger.manifestKey else { throw SodiumError.notAuthentic }
    let (id, key) = try makeKey(KeyID(.manifest, epoch: oldKey.id.epoch + 1), by: root, in: tx)
    let newKey = try ManifestKey(id, key, in: arena)
    try count(ledger, by: newKey, in: tx)
    let gone = try keys(before: newKey.id, in: tx)
    try remove(gone, ledger, in: tx)
    tx.onCommit("manifest key") { [ids = gone.map(\.id)] in
      self.state.withLock { $0.ring.retire(ids) }
    }
    return gone.count
  }

  private func remove(
    _ gone: [(id: KeyID, tag: ItemID)], _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    for key in gone {
      try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(key.id.rawValue)))
      try ledger.remove(.key(key.id, tag: key.tag))
    }
    ledger.owesErasure = true
  }

  /// Puts the same store under the new key into the ledger.
  private func count(
    _ ledger: ChangeLedger, by newKey: ManifestKey, in tx: WriteTransaction
  ) throws {
    guard let expected = ledger.manifest, let oldKey = ledger.manifestKey else { return }
    var found = Manifest()
    var anew = Manifest()
    do {
      try forEachElement(in: tx) { element in
        try found.insert(element, key: oldKey.sum)
        try anew.insert(element, key: newKey.sum)
      }
    } catch let error where Self.isDecode(error) {
      // A row that cannot even be read as one: found says less than was expected.
    }
    guard found.hasSameContents(as: expected) else {
      fail(.manifestMismatch)
      throw KeychainError(.decode, "\(StoreCondition.Reason.manifestMismatch)")
    }
    anew.generation = expected.generation
    ledger.manifest = anew
    ledger.manifestKey = newKey
  }

  private func keys(
    before newest: KeyID, in tx: ReadTransaction
  ) throws -> [(id: KeyID, tag: ItemID)] {
    try tx.all(
      "SELECT id, wrapped FROM keys WHERE id BETWEEN ? AND ?",
      .integer(Int64(KeyID(newest.purpose, epoch: 0).rawValue)),
      .integer(Int64(newest.rawValue) - 1)
    ) { (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), $0.blob(1).tag) }
  }

  /// The older keys for attributes, index and classes that no row names.
  private func unneededKeys(in tx: ReadTransaction) throws -> [(id: KeyID, tag: ItemID)] {
    var older: [(id: KeyID, tag: ItemID)] = []
    for purpose in [.metadata, .blindIndex] + Accessibility.allCases.map(\.keyPurpose) {
      guard let newest = try newestKey(purpose, in: tx) else { continue }
      older += try keys(before: newest, in: tx)
    }
    guard !older.isEmpty else { return [] }
    var needed: Set<KeyID> = []
    try tx.forEach(
      "SELECT class_key, index_epoch, substr(metadata, 1, 5) FROM items", bound: []
    ) { row in
      needed.insert(KeyID(rawValue: UInt32(truncatingIfNeeded: row.integer(0))))
      needed.insert(KeyID(.blindIndex, epoch: UInt32(truncatingIfNeeded: row.integer(1))))
      row.withBlob(2) { head in
        guard head.count == 5 else { return }
        let id = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        needed.insert(KeyID(rawValue: id))
      }
      return true
    }
    return older.filter { !needed.contains($0.id) }
  }
}
