// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// What a router adds to the counts of the network that it is on.
struct NetworkContribution: Hashable, Sendable {
  let network: ExtendedPANID
  let isOnline: Bool
}

/// A network's row: what is shown of it, and how many routers are on it.
package struct NetworkRecord: Hashable, Sendable {
  package let network: ExtendedPANID
  package var name: String
  package var channel: Int?
  package var panID: Int?
  package var activeSeconds: UInt64?
  package var routers: Int
  package var online: Int
  var generation: Int64

  package func state(in home: HomeRecord, isAccepted: Bool) -> NetworkState {
    NetworkState(
      home: home.name, extendedPANID: network.description, networkName: name, channel: channel,
      panID: panID,
      activeTimestamp: activeSeconds, routers: routers, routersOnline: online,
      isPreferred: home.preferred == network, isAccepted: isAccepted)
  }
}

enum NetworkLedger {
  static func find(_ network: ExtendedPANID, home: Int64, _ tx: ReadTransaction) throws
    -> NetworkRecord?
  {
    try tx.first(
      "SELECT * FROM network WHERE home = ? AND ext_pan_id = ?", .integer(home),
      .blob(network.bytes), row: NetworkRecord.init(row:))
  }

  static func all(home: Int64, _ tx: ReadTransaction) throws -> [NetworkRecord] {
    try tx.all(
      "SELECT * FROM network WHERE home = ? ORDER BY name, ext_pan_id", .integer(home),
      row: NetworkRecord.init(row:))
  }

  /// Networks of one home in the order of their row ids; for lists, and for walks in small steps.
  static func page(home: Int64, after id: Int64, limit: Int, _ tx: ReadTransaction) throws
    -> [(id: Int64, network: NetworkRecord)]
  {
    try tx.all(pageSQL, .integer(home), .integer(id), .integer(Int64(limit))) {
      ($0.integer(0), try NetworkRecord(row: $0))
    }
  }

  static let pageSQL: StaticString = """
    SELECT * FROM network INDEXED BY network_home WHERE home = ? AND id > ? ORDER BY id LIMIT ?
    """

  /// Networks that listed routers are on.
  static func seen(home: Int64, limit: Int, _ tx: ReadTransaction) throws -> [NetworkRecord] {
    try tx.all(
      "SELECT * FROM network WHERE home = ? AND routers > 0 ORDER BY name, ext_pan_id LIMIT ?",
      .integer(home), .integer(Int64(limit)), row: NetworkRecord.init(row:))
  }

  static func countSeen(home: Int64, _ tx: ReadTransaction) throws -> Int {
    try tx.first("SELECT count(*) FROM network WHERE home = ? AND routers > 0", .integer(home)) {
      Int($0.integer(0))
    } ?? 0
  }

  static func count(home: Int64, _ tx: ReadTransaction) throws -> Int {
    try tx.first("SELECT count(*) FROM network WHERE home = ?", .integer(home)) {
      Int($0.integer(0))
    } ?? 0
  }

  static func save(_ record: NetworkRecord, home: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO network (home, ext_pan_id, name, channel, pan_id, active_seconds, routers, online,
        generation)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (home, ext_pan_id) DO UPDATE SET name = excluded.name,
        channel = excluded.channel, pan_id = excluded.pan_id,
        active_seconds = excluded.active_seconds, routers = excluded.routers,
        online = excluded.online, generation = excluded.generation
      """,
      .integer(home), .blob(record.network.bytes), .text(record.name), .init(record.channel),
      .init(record.panID), .init(bits: record.activeSeconds), .integer(Int64(record.routers)),
      .integer(Int64(record.online)), .integer(record.generation))
  }

  static func delete(_ network: ExtendedPANID, home: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "DELETE FROM network WHERE home = ? AND ext_pan_id = ?", .integer(home),
      .blob(network.bytes))
  }
}

extension NetworkRecord {
  /// From a row of `SELECT * FROM network`.
  init(row: SQLiteRow) throws {
    guard let network = ExtendedPANID(bytes: row.blob(2)) else {
      throw LedgerError(table: "network", column: "ext_pan_id")
    }
    self.init(
      network: network, name: row.text(3), channel: row.integerIfPresent(4).map(Int.init),
      panID: row.integerIfPresent(5).map(Int.init),
      activeSeconds: row.integerIfPresent(6).map(UInt64.init(bitPattern:)),
      routers: Int(row.integer(7)), online: Int(row.integer(8)), generation: row.integer(9))
  }
}
