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

  /// Routers of one network that have reported over MQTT that they lead it, each after another one has begun to. A
  /// partition has one leader, so each is in one of its own. The partitions are numbered.
  static func leaders(home: Int64, _ tx: ReadTransaction) throws -> [NetworkSplits.Place] {
    let routers = try tx.all(
      """
      SELECT * FROM router AS one INDEXED BY router_leader
       WHERE home = ? AND thread_state = 'leader' AND online = 1 AND present = 1
         AND EXISTS (
           SELECT 1 FROM router AS other INDEXED BY router_leader
            WHERE other.home = one.home AND other.thread_state = 'leader' AND other.online = 1
              AND other.present = 1 AND other.id <> one.id
              AND coalesce(other.current_network, other.network)
                = coalesce(one.current_network, one.network)
              AND one.last_seen >= other.thread_state_since
              AND other.last_seen >= one.thread_state_since)
      """,
      .integer(home), row: RouterRecord.init(row:))
    return routers.enumerated().compactMap { number, router in
      (router.currentNetwork ?? router.network).map {
        .init(network: $0, partition: UInt32(number), router: router.shownName)
      }
    }
  }
}
