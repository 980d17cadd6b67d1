// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

enum HomeLedger {
  static func all(_ tx: ReadTransaction) throws -> [HomeRecord] {
    try tx.all("SELECT * FROM home ORDER BY id", row: HomeRecord.init(row:))
  }

  static func insert(_ home: BaseTopics.Home, _ tx: WriteTransaction) throws {
    try tx.execute(
      "INSERT INTO home (name, base_topic) VALUES (?, ?)", .text(home.name), .text(home.base))
  }

  static func setBaseTopic(_ base: String, of id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute("UPDATE home SET base_topic = ? WHERE id = ?", .text(base), .integer(id))
  }

  /// - Parameter dataset: nil: no network is preferred.
  static func setPreferred(_ dataset: OperationalDataset?, of id: Int64, _ tx: WriteTransaction)
    throws
  {
    try tx.execute(
      "UPDATE home SET preferred = ?, preferred_name = ?, reevaluate_after = 0 WHERE id = ?",
      .init(dataset?.extendedPANID?.bytes), .init(dataset?.networkName), .integer(id))
  }

  static func setMoved(to network: ExtendedPANID?, of id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home SET moved_to = ? WHERE id = ?", .init(network?.bytes), .integer(id))
  }

  static func setDiscoveredSince(_ time: WireTime?, of id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute("UPDATE home SET discovered_since = ? WHERE id = ?", .init(time), .integer(id))
  }

  /// Discovery that began after `now` began then.
  static func discoverNotLater(than now: WireTime, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home SET discovered_since = ? WHERE discovered_since > ?",
      .integer(now.milliseconds), .integer(now.milliseconds))
  }

  static func addRouters(_ change: Int, to id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home SET routers = routers + ? WHERE id = ?", .integer(Int64(change)), .integer(id))
  }

  static func setReevaluation(after cursor: Int64?, of id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home SET reevaluate_after = ? WHERE id = ?",
      cursor.map(SQLiteValue.integer) ?? .null, .integer(id))
  }
}
