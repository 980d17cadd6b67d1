// SPDX-License-Identifier: Apache-2.0

import Broker
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
  /// When the first list of the local network was complete; nil before, and while nothing is looked for there.
  let discoveredSince: WireTime?
}

extension HomeRecord {
  init(row: SQLiteRow) throws {
    self.init(
      id: row.integer(0), name: row.text(1), baseTopic: row.text(2),
      preferred: row.blobIfPresent(3).flatMap(ExtendedPANID.init(bytes:)),
      preferredName: row.textIfPresent(4), routers: Int(row.integer(5)),
      reevaluateAfter: row.integerIfPresent(6),
      movedTo: row.blobIfPresent(7).flatMap(ExtendedPANID.init(bytes:)),
      discoveredSince: row.integerIfPresent(8).map(WireTime.init(milliseconds:)))
  }
}
