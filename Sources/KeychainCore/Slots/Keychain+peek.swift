// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// The ways into a store that is not open. Somebody may have altered what they say of themselves:
  /// good to ask for the right secret, and for nothing else.
  package static func slots(at location: StoreLocation) throws(KeychainError) -> [KeySlot] {
    try KeychainError.wrap("looking for the key slots") {
      guard exists(at: location) else {
        throw KeychainError(.noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let database = try SQLiteDatabase(path: location.databasePath, access: .readOnly)
      defer { database.close() }
      return try database.read { try KeySlotRow.all(in: $0).map(\.row.slot) }
    }
  }

  /// The numbers of the slots that open with `secret`; empty when none does, or when it is not there.
  package func slotsOpened(by secret: KeySlotSecret) throws(KeychainError) -> [Int64] {
    try KeychainError.wrap("trying the key slots") { try opened(by: secret).map(\.slot.number) }
  }

  /// The slots that open with `secret`, with the root keys in them.
  func opened(
    by secret: KeySlotSecret
  ) throws -> [(slot: KeySlot, roots: [KeyID: GuardedKey])] {
    guard let octets = try? secret.octets() else { return [] }
    let slots = try database.read { try KeySlotRow.all(in: $0) }
    return try slots.filter { $0.row.slot.kind == secret.kind }.compactMap { row, payload in
      do {
        let slotKey = try row.slotKey(from: octets, in: arena)
        return (row.slot, try row.open(payload, store: storeID, slotKey: slotKey, in: arena))
      } catch is SodiumError {
        return nil
      }
    }
  }
}
