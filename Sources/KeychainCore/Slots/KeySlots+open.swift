// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Root keys out of slots.
extension KeySlots {
  /// The numbers of the slots that open with `secret`; empty when none does, or when it is not there.
  func numbers(openedBy secret: KeySlotSecret) throws(KeychainError) -> [Int64] {
    try KeychainError.wrap("trying the key slots") { try opened(by: secret).map(\.slot.number) }
  }

  /// The slots that open with `secret`, with the root keys in them.
  func opened(
    by secret: KeySlotSecret
  ) throws -> [(slot: KeySlot, roots: [KeyID: GuardedKey])] {
    guard let bytes = try? secret.bytes() else { return [] }
    let slots = try database.read { try KeySlotRow.all(in: $0) }
    return try slots.filter { $0.row.slot.kind == secret.kind }.compactMap { row, payload in
      do {
        let slotKey = try row.slotKey(from: bytes, in: keys.arena)
        return (row.slot, try row.open(payload, store: store, slotKey: slotKey, in: keys.arena))
      } catch is SodiumError {
        return nil
      }
    }
  }

  /// Tries the slots of the kind of `secret`, the oldest first.
  static func open(
    _ secret: KeySlotSecret, _ bytes: SecretBytes, store: StoreID, arena: KeyArena,
    in tx: ReadTransaction
  ) throws -> [KeyID: GuardedKey] {
    var refusal = ""
    for (row, payload) in try KeySlotRow.all(in: tx) where row.slot.kind == secret.kind {
      do {
        let slotKey = try row.slotKey(from: bytes, in: arena)
        return try row.open(payload, store: store, slotKey: slotKey, in: arena)
      } catch SodiumError.refusedParameters(let reason) {
        refusal = "; \(reason)"
      } catch is SodiumError {
        continue
      }
    }
    throw KeychainError(
      .authFailed,
      "no key slot of the store opens with \(secret.words): \(secret.suspicion)\(refusal)")
  }
}
