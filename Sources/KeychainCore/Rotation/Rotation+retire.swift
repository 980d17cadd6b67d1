// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Rotation {
  /// Removes the records of older keys that no row needs, and counts the store under a new manifest
  /// key. Others cannot write meanwhile: it takes some 2 µs an item.
  ///
  /// - Returns: the number of keys that were removed.
  /// - Throws: `decode` when the store is not what its manifest says: counting it again would hide it.
  func retireKeys(after walk: RotationWalk, in tx: WriteTransaction) throws -> Int {
    let gone = try unneededKeys(in: tx)
    guard !gone.isEmpty else { return 0 }
    let ledger = try changes.ledger(tx)
    let manifests = try manifest.renewKey(ledger, by: keys.root(.master), erasure, in: tx)
    for key in gone { try KeyTable.remove(key.id, tag: key.tag, ledger, in: tx) }
    ledger.owesErasure = true
    tx.onCommit("rotation") { [ids = gone.map(\.id)] in
      self.erasure.retire(ids)
    }
    let count = gone.count + manifests
    changes.audit.note(
      .rotationFinished, "\(walk.renewed) items, \(count) old keys removed", ledger)
    return count
  }

  /// The older keys for attributes, index and classes that no row names.
  private func unneededKeys(in tx: ReadTransaction) throws -> [(id: KeyID, tag: ItemID)] {
    var older: [(id: KeyID, tag: ItemID)] = []
    for purpose in [.metadata, .blindIndex] + Accessibility.allCases.map(\.keyPurpose) {
      guard let newest = try KeyTable.newest(purpose, in: tx) else { continue }
      older += try KeyTable.keys(before: newest, in: tx)
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
