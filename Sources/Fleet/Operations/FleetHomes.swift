// SPDX-License-Identifier: Apache-2.0

#if Fleet
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The homes of a fleet, which stand in its database.
package struct FleetHomes {
  package struct Row: Codable, Sendable {
    package var shard: Int
    package var name: String
    package var settings: HomeSettings

    package init(_ home: HomeAddress, settings: HomeSettings) {
      (shard, name, self.settings) = (home.shard, home.name, settings)
    }
  }

  package struct Added: Codable, Sendable {
    package var added: Int
    /// Homes that were there and have other settings now.
    package var changed: Int
    package var unchanged: Int
  }

  /// Homes in one statement: what is larger is cut, so that no lease waits for it.
  private static let inStatement = 5_000

  let database: FleetDatabase

  package init(_ database: FleetDatabase) { self.database = database }

  /// - Parameter shard: nil: of all.
  package func list(shard: Int? = nil) throws(CommandFailure) -> [Row] {
    try database.rows(
      """
      SELECT shard, name, settings FROM threadkeeper.home
      WHERE $1 = '' OR shard = nullif($1, '')::int ORDER BY shard, name
      """, [shard.map(String.init) ?? ""])
  }

  /// Adds homes. One that is there already keeps its settings, but for those that are named.
  ///
  /// - Throws: `CommandFailure` with status 64 where there is no such shard, and then nothing is added.
  package func add(
    _ homes: [Row], progress: (Int) -> Void = { _ in }
  ) throws(CommandFailure) -> Added {
    struct Shard: Decodable { var id: Int }
    _ = try database.fleet()
    let shards = Set(
      try database.rows("SELECT id FROM threadkeeper.shard", as: Shard.self).map(\.id))
    if let home = homes.first(where: { !shards.contains($0.shard) }) {
      throw CommandFailure(
        .usage, "there is no shard \(home.shard), for \(home.shard)/\(home.name)",
        remedy: "`threadkeeper fleet init --shards \(home.shard)` makes it, and those before it")
    }
    struct Change: Decodable { var isNew: Bool }
    var outcome = Added(added: 0, changed: 0, unchanged: 0)
    // One that is named twice has what is said of it last.
    let named = Dictionary(
      homes.map { (HomeAddress(shard: $0.shard, name: $0.name), $0) }, uniquingKeysWith: { $1 })
    var rest = Array(named.values)[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Self.inStatement))
      rest = rest.dropFirst(part.count)
      let changes: [Change] = try database.rows(
        "SELECT is_new FROM threadkeeper.add_homes($1::jsonb)", [try JSONText.line(part)])
      outcome.added += changes.count { $0.isNew }
      outcome.changed += changes.count { !$0.isNew }
      outcome.unchanged += part.count - changes.count
      progress(named.count - rest.count)
    }
    return outcome
  }
}
#endif
