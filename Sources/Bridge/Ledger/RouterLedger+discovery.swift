// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// Routers by their records on the local network.
extension RouterLedger {
  /// The listed routers with an extended address (8 bytes), a few at the most: it is theirs to choose.
  static func listed(
    extendedAddress: [UInt8], home: Int64, _ tx: ReadTransaction
  ) throws -> [RouterRecord] {
    try tx.all(
      """
      SELECT * FROM router INDEXED BY router_ext_address
       WHERE home = ? AND ext_address = ? AND present = 1 LIMIT 4
      """,
      .integer(home), .blob(extendedAddress), row: RouterRecord.init(row:))
  }

  /// Routers whose records were there when it was looked last.
  static func advertised(home: Int64, _ tx: ReadTransaction) throws -> [RouterRecord] {
    try tx.all(
      "SELECT * FROM router INDEXED BY router_advertised WHERE home = ? AND advertised = 1",
      .integer(home), row: RouterRecord.init(row:))
  }

  /// Listed routers that no login has announced.
  static func discovered(home: Int64, _ tx: ReadTransaction) throws -> [RouterRecord] {
    try tx.all(
      """
      SELECT * FROM router INDEXED BY router_mdns
       WHERE home = ? AND source = 'mdns' AND present = 1
      """,
      .integer(home), row: RouterRecord.init(row:))
  }

  static func countDiscovered(home: Int64, _ tx: ReadTransaction) throws -> Int {
    try tx.first(
      """
      SELECT count(*) FROM router INDEXED BY router_mdns
       WHERE home = ? AND source = 'mdns' AND present = 1
      """,
      .integer(home)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Of those, the ones whose records have gone at or before `deadline`, the first one at the beginning.
  static func discoveredAndGone(
    home: Int64, before deadline: WireTime, limit: Int, _ tx: ReadTransaction
  ) throws -> [RouterRecord] {
    try tx.all(
      """
      SELECT * FROM router INDEXED BY router_mdns
       WHERE home = ? AND source = 'mdns' AND present = 1 AND advertised = 0 AND last_seen <= ?
       ORDER BY last_seen LIMIT ?
      """,
      .integer(home), .integer(deadline.milliseconds), .integer(Int64(limit)),
      row: RouterRecord.init(row:))
  }

  /// Where the routers are that are attached, by their records.
  static func partitions(home: Int64, _ tx: ReadTransaction) throws -> [NetworkSplits.Place] {
    let routers = try tx.all(
      """
      SELECT * FROM router INDEXED BY router_advertised
       WHERE home = ? AND advertised = 1 AND online = 1 AND partition IS NOT NULL
      """,
      .integer(home), row: RouterRecord.init(row:))
    return routers.compactMap { router in
      guard let network = router.currentNetwork ?? router.network, let partition = router.partition
      else { return nil }
      return NetworkSplits.Place(
        network: network, partition: partition, router: router.shownName)
    }
  }

  /// The routers that have reported over MQTT that they lead their network; ordered by network, since when, and until
  /// when.
  static func leaders(home: Int64, _ tx: ReadTransaction) throws -> [NetworkSplits.Leader] {
    try tx.all(
      """
      SELECT id, coalesce(current_network, network), thread_state_since, thread_state_reported
        FROM router INDEXED BY router_leader
       WHERE home = ? AND thread_state = 'leader' AND online = 1 AND present = 1
       ORDER BY coalesce(current_network, network), thread_state_since, thread_state_reported
      """,
      .integer(home)
    ) { row in
      row.withBlob(1, ExtendedPANID.init(bytes:)).map {
        NetworkSplits.Leader(
          id: row.integer(0), network: $0, since: WireTime(milliseconds: row.integer(2)),
          reported: WireTime(milliseconds: row.integer(3)))
      }
    }.compactMap(\.self)
  }

  /// What people call the router of a row.
  static func shownName(id: Int64, _ tx: ReadTransaction) throws -> String? {
    try tx.first(
      "SELECT * FROM router WHERE id = ?", .integer(id), row: RouterRecord.init(row:))?.shownName
  }
}
