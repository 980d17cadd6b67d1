// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// The networks of which a person has said that routers are on them on purpose.
enum AcceptedNetworkLedger {
  static func contains(
    _ network: ExtendedPANID, home: Int64, _ tx: ReadTransaction
  ) throws -> Bool {
    try tx.first(
      "SELECT 1 FROM accepted_network WHERE home = ? AND ext_pan_id = ?", .integer(home),
      .blob(network.bytes)
    ) { _ in true } ?? false
  }

  static func all(home: Int64, _ tx: ReadTransaction) throws -> Set<ExtendedPANID> {
    let networks = try tx.all(
      "SELECT ext_pan_id FROM accepted_network WHERE home = ?", .integer(home)
    ) { ExtendedPANID(bytes: $0.blob(0)) }
    return Set(networks.compactMap { $0 })
  }

  static func insert(_ network: ExtendedPANID, home: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "INSERT OR IGNORE INTO accepted_network (home, ext_pan_id) VALUES (?, ?)", .integer(home),
      .blob(network.bytes))
  }

  static func delete(_ network: ExtendedPANID, home: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "DELETE FROM accepted_network WHERE home = ? AND ext_pan_id = ?", .integer(home),
      .blob(network.bytes))
  }
}
