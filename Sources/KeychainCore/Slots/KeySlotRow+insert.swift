// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension KeySlotRow {
  /// A slot that is not in the store yet; its number comes with `insert`.
  init(new kind: KeySlot.Kind, label: String, options: KeychainOptions) throws {
    slot = KeySlot(
      number: 0, id: .random(), kind: kind, label: label, created: options.now())
    switch kind {
    case .keyFile, .systemdCredential, .recoveryCode:
      parameters = []
    case .passphrase:
      try options.passwordHash.check()
      parameters = PassphraseParameters(options.passwordHash).encoded
    }
  }

  /// Seals the root keys into the slot, writes it, and returns what the manifest counts.
  func insert(
    _ roots: [(KeyID, GuardedKey)], store: StoreID, slotKey: GuardedKey, in tx: WriteTransaction
  ) throws -> ManifestElement {
    let payload = try seal(roots, store: store, slotKey: slotKey)
    try tx.execute(
      """
      INSERT INTO key_slots (uuid, kind, label, created, parameters, payload)
      VALUES (?, ?, ?, ?, ?, ?)
      """,
      .blob(slot.id.bytes), .integer(Int64(slot.kind.rawValue)), .text(slot.label),
      .integer(slot.created), .blob(parameters), .blob(payload))
    return manifestElement(number: tx.lastInsertedRowID, payload: payload)
  }

  /// Every slot of a kind that this version knows, with its payload.
  static func all(in tx: ReadTransaction) throws -> [(row: KeySlotRow, payload: [UInt8])] {
    try tx.all(
      "SELECT id, uuid, kind, label, created, parameters, payload FROM key_slots ORDER BY id"
    ) { row -> (KeySlotRow, [UInt8])? in
      guard let id = row.withBlob(1, { ItemID($0) }),
        let kind = UInt8(exactly: row.integer(2)).flatMap(KeySlot.Kind.init)
      else { return nil }
      let slot = KeySlot(
        number: row.integer(0), id: id, kind: kind, label: row.text(3), created: row.integer(4))
      return (KeySlotRow(slot: slot, parameters: row.blob(5)), row.blob(6))
    }.compactMap { $0 }
  }
}
