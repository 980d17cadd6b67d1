// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// What the bridge knows, for reading only: it reads a snapshot, beside a running
/// daemon too.
package struct BridgeRegistry: Sendable {
  /// Everything that is active, but no more of a list than a person or a script will read at once.
  package static let listed = 100_000

  private let database: SQLiteDatabase

  package init(_ database: SQLiteDatabase) {
    self.database = database
  }

  /// Makes the bridge's tables, so that a store can be looked at before the first run.
  package static func prepare(
    _ configuration: BridgeConfiguration, keychain: Keychain, clock: any Clock = SystemClock()
  ) throws {
    _ = try BridgeStart.prepare(
      configuration, store: ThreadCredentialStore(keychain), now: clock.now())
  }

  package func homes() throws -> [HomeRecord] {
    try database.read { try HomeLedger.all($0) }
  }

  package func routers(in home: HomeRecord, limit: Int = listed) throws -> [RouterRecord] {
    try database.read {
      try RouterLedger.page(home: home.id, after: 0, limit: limit, $0)
    }
  }

  /// The user of the broker that spoke last for each router, also for those that left.
  package func users(in home: HomeRecord) throws -> [BorderAgentID: String] {
    try database.read { try RouterLedger.users(home: home.id, $0) }
  }

  /// Whether a border router has left of which the home still knows.
  package func hasDepartedRouters(in home: HomeRecord) throws -> Bool {
    try database.read {
      try $0.first(
        "SELECT 1 FROM router WHERE home = ? AND present = 0 LIMIT 1", .integer(home.id)
      ) { _ in true } ?? false
    }
  }

  package func networks(in home: HomeRecord) throws -> [NetworkRecord] {
    try database.read { try NetworkLedger.all(home: home.id, $0) }
  }

  /// Networks of which a person has said that routers are on them on purpose.
  package func acceptedNetworks(in home: HomeRecord) throws -> Set<ExtendedPANID> {
    try database.read { try AcceptedNetworkLedger.all(home: home.id, $0) }
  }

  /// Events that wait for the broker.
  package func waitingEvents() throws -> Int64 {
    try database.read { try EventLedger.waiting($0) }
  }

  /// - Parameter all: with those that were resolved within the last day.
  package func alerts(in home: HomeRecord, all: Bool) throws -> [AlertRecord] {
    try database.read {
      all
        ? try AlertLedger.published(home: home.id, after: 0, limit: Self.listed, $0).map(\.alert)
        : try AlertLedger.firing(home: home.id, limit: Self.listed, $0)
    }
  }
}
