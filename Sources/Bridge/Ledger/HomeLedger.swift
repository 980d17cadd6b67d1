// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SQLiteDatabase
import ThreadDataset

/// A home's row.
package struct HomeRecord: Hashable, Sendable {
  package let id: Int64
  package let name: String
  package let baseTopic: String
  /// The Extended PAN ID of the preferred network, for display.
  package let preferred: ExtendedPANID?
  package let preferredName: String?
  /// Border routers that are on the Thread network.
  package let routers: Int
  /// Row id up to which routers have been checked again; `nil` when there is nothing to check.
  let reevaluateAfter: Int64?
  /// The network that all members of the preferred network are on instead; nil while they are not.
  let movedTo: ExtendedPANID?
}

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

extension HomeRecord {
  init(row: SQLiteRow) throws {
    self.init(
      id: row.integer(0), name: row.text(1), baseTopic: row.text(2),
      preferred: row.blobIfPresent(3).flatMap(ExtendedPANID.init(bytes:)),
      preferredName: row.textIfPresent(4), routers: Int(row.integer(5)),
      reevaluateAfter: row.integerIfPresent(6),
      movedTo: row.blobIfPresent(7).flatMap(ExtendedPANID.init(bytes:)))
  }
}
