// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// Tells one set of keys and slots from another, so that a process that shares a store notices
/// what others did to them.
struct KeySetMark: Equatable {
  private let keys: [Int64]
  /// Their number and the highest: the numbers of slots are never given again.
  private let slots: [Int64]

  init(in tx: ReadTransaction) throws {
    keys = try tx.all("SELECT id FROM keys ORDER BY id") { $0.integer(0) }
    slots =
      try tx.first("SELECT count(*), coalesce(max(id), 0) FROM key_slots") {
        [$0.integer(0), $0.integer(1)]
      } ?? []
  }

  func contains(_ id: KeyID) -> Bool { keys.contains(Int64(id.rawValue)) }

  /// Whether the ways into the store are the same: if not, its root keys may be others.
  func hasSameSlots(as other: KeySetMark) -> Bool { slots == other.slots }
}
