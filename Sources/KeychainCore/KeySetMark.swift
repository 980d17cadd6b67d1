// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// Tells one set of keys and slots from another, so that a process that shares a store notices
/// what others did to them.
struct KeySetMark: Equatable {
  private let keys: [Int64]
  private let slots: [Int64]

  init(in tx: ReadTransaction) throws {
    keys = try Self.pair("SELECT count(*), coalesce(sum(id), 0) FROM keys", in: tx)
    // The numbers of slots are never given again.
    slots = try Self.pair("SELECT count(*), coalesce(max(id), 0) FROM key_slots", in: tx)
  }

  private static func pair(_ sql: StaticString, in tx: ReadTransaction) throws -> [Int64] {
    try tx.first(sql) { [$0.integer(0), $0.integer(1)] } ?? []
  }

  /// Whether the ways into the store are the same: if not, its root keys may be others.
  func hasSameSlots(as other: KeySetMark) -> Bool { slots == other.slots }
}
