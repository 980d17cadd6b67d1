// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

@testable import KeychainCore

/// All keys that somebody had who opened the store at one time: the roots, and what they opened then.
struct LeakedKeys {
  private let keys: [KeyID: GuardedKey]
  private let arena = KeyArena()

  init(_ keychain: Keychain) { keys = keychain.keys.loaded.withLock { $0.keys } }

  private func keys(_ purpose: KeyPurpose) -> [(id: KeyID, key: GuardedKey)] {
    keys.filter { $0.key.purpose == purpose }.map { ($0.key, $0.value) }
  }

  /// What of the store, as it is now, opens with any of them. Of the audit, what comes after `record`.
  func opens(_ keychain: Keychain, after record: Int64 = 0) throws -> [String] {
    try keychain.database.read { tx in
      try keyRecords(keychain, in: tx) + items(keychain, in: tx) + records(keychain, in: tx)
        + head(keychain, after: record, in: tx)
    }
  }

  private func keyRecords(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    let device = keys(.device).first?.key
    return try KeyTable.records(in: tx).filter { id, wrapped in
      (keys(.master) + keys(.session)).contains { root in
        wrapped.withUnsafeBytes { wrapped in
          let isForDevice = id.purpose.accessibility?.isThisDeviceOnly == true
          return
            (try? KeyRecord.unwrap(
              wrapped, id: id, store: keychain.storeID, wrapper: root.key,
              device: isForDevice ? device : nil, in: arena)) != nil
        }
      }
    }.map { "key \($0.id.purpose.rawValue).\($0.id.epoch)" }
  }

  private func items(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    var found: [String] = []
    try tx.forEach(
      "SELECT id, uuid, class, version, metadata, wrapped_key, index_epoch FROM items", bound: []
    ) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      let metadata = ItemRow.metadataPlace(
        keychain.storeID, id, ItemClass(rawValue: UInt8(row.integer(2))) ?? .key,
        version: row.integer(3))
      if keys(.metadata).contains(where: { opens(row.blob(4), metadata, $0.key) }) {
        found.append("attributes of row \(row.integer(0))")
      }
      let classes = Accessibility.allCases.flatMap { keys($0.keyPurpose) }
      let itemKey = ItemRow.itemKeyPlace(keychain.storeID, id)
      if classes.contains(where: { opens(row.blob(5), itemKey, $0.key) }) {
        found.append("secret of row \(row.integer(0))")
      }
      if keys(.blindIndex).contains(where: { Int64($0.id.epoch) == row.integer(6) }) {
        found.append("index of row \(row.integer(0))")
      }
      return true
    }
    return found
  }

  private func records(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    var found: [String] = []
    try RecordRow.forEach(in: tx) { record, columns in
      let parts: [(RecordRow.Part, column: Int32)] = [(.state, 4), (.secret, 5)]
      for (part, column) in parts {
        let place = record.place(of: part, keychain.storeID)
        if keys(.records).contains(where: { opens(columns.blob(column), place, $0.key) }) {
          found.append("\(part) of record \(record.id)")
        }
      }
    }
    return found
  }

  private func head(
    _ keychain: Keychain, after record: Int64, in tx: ReadTransaction
  ) throws -> [String] {
    var found: [String] = []
    let manifest = try tx.first("SELECT sealed FROM manifest") { $0.blob(0) } ?? []
    for (id, key) in keys(.manifest) {
      let key = try ManifestKey(id, key, in: arena)
      if opens(manifest, Manifest.place(keychain.storeID), key.seal) { found.append("manifest") }
    }
    let audit = try tx.all("SELECT id, sealed FROM audit WHERE id > ?", .integer(record)) {
      (number: $0.integer(0), sealed: $0.blob(1))
    }
    for (id, key) in keys(.audit) {
      let key = try AuditKey(id, key, in: arena)
      for (number, sealed) in audit
      where (try? key.open(sealed, number: number, store: keychain.storeID)) != nil {
        found.append("audit \(number)")
      }
    }
    return found
  }

  private func opens(_ sealed: [UInt8], _ place: SealedPart.Place, _ key: GuardedKey) -> Bool {
    sealed.withUnsafeBytes { sealed in
      do {
        return try withScratchMemory(SealedPart.plaintextCount(sealed)) { memory in
          try key.withUnsafeBytes { try SealedPart.open(sealed, at: place, key: $0, into: memory) }
          return true
        }
      } catch { return false }
    }
  }
}
