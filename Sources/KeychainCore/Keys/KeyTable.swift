// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The table `keys`: one sealed record for each key (`KeyRecord`). Opens none.
///
/// What changes it takes the ledger, so that the manifest counts what the table has.
enum KeyTable {
  static func record(of id: KeyID, in tx: ReadTransaction) throws -> [UInt8]? {
    try tx.first("SELECT wrapped FROM keys WHERE id = ?", .integer(Int64(id.rawValue))) {
      $0.blob(0)
    }
  }

  /// All of them. The order of the ids brings the session key before the classes that it wraps.
  static func records(in tx: ReadTransaction) throws -> [(id: KeyID, wrapped: [UInt8])] {
    try tx.all("SELECT id, wrapped FROM keys ORDER BY id") {
      (id: KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), wrapped: $0.blob(1))
    }
  }

  static func newest(_ purpose: KeyPurpose, in tx: ReadTransaction) throws -> KeyID? {
    let first = Int64(KeyID(purpose, epoch: 0).rawValue)
    return try tx.first(
      "SELECT id FROM keys WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
      .integer(first), .integer(first | 0xFF_FFFF)
    ) { KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))) }
  }

  /// The newest key for `purpose` if it was carried over to new root keys without its device key, which
  /// the old roots reach: nothing more may be wrapped by it.
  static func carried(_ purpose: KeyPurpose, in tx: ReadTransaction) throws -> KeyID? {
    guard purpose.accessibility?.isThisDeviceOnly == true,
      let newest = try newest(purpose, in: tx),
      let wrapped = try record(of: newest, in: tx), KeyRecord.isCarried(wrapped)
    else { return nil }
    return newest
  }

  /// Every epoch of a purpose.
  static func ids(of purpose: KeyPurpose, in tx: ReadTransaction) throws -> [KeyID] {
    let first = Int64(KeyID(purpose, epoch: 0).rawValue)
    return try tx.all(
      "SELECT id FROM keys WHERE id BETWEEN ? AND ?", .integer(first), .integer(first | 0xFF_FFFF)
    ) { KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))) }
  }

  /// The keys for the purpose of `newest` that came before it.
  static func keys(
    before newest: KeyID, in tx: ReadTransaction
  ) throws -> [(id: KeyID, tag: ItemID)] {
    try tx.all(
      "SELECT id, wrapped FROM keys WHERE id BETWEEN ? AND ?",
      .integer(Int64(KeyID(newest.purpose, epoch: 0).rawValue)),
      .integer(Int64(newest.rawValue) - 1)
    ) { (KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), $0.blob(1).tag) }
  }

  static func insert(
    _ wrapped: [UInt8], of id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    do {
      try tx.execute(
        "INSERT INTO keys (id, wrapped) VALUES (?, ?)", .integer(Int64(id.rawValue)),
        .blob(wrapped))
    } catch let error as SQLiteError where error.isDuplicate {
      // Never to be taken for a duplicate item.
      throw KeychainError(.internalError, "the store has such a key already: \(error)")
    }
    try ledger.insert(.key(id, tag: wrapped.tag))
  }

  /// Rewrites the record of a key.
  static func replace(
    _ old: [UInt8], by new: [UInt8], of id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    try tx.execute(
      "UPDATE keys SET wrapped = ? WHERE id = ?", .blob(new), .integer(Int64(id.rawValue)))
    try ledger.remove(.key(id, tag: old.tag))
    try ledger.insert(.key(id, tag: new.tag))
  }

  /// - Parameter tag: of the record that the key has.
  static func remove(
    _ id: KeyID, tag: ItemID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    try tx.execute("DELETE FROM keys WHERE id = ?", .integer(Int64(id.rawValue)))
    try ledger.remove(.key(id, tag: tag))
  }
}

extension [UInt8] {
  /// The tag at the end of a sealed part.
  var tag: ItemID {
    withUnsafeBytes { bytes in
      ItemID(UnsafeRawBufferPointer(rebasing: bytes.suffix(16))) ?? ItemID(high: 0, low: 0)
    }
  }
}
