#if Fleet
import Threadkeeper

/// How a fleet is: as its database has it, in one look.
struct FleetStatus: Codable {
  struct Shard: Codable {
    var shard: Int
    /// Who has it now; nil: nobody.
    var node: String?
    var address: String?
    /// Seconds since the lease was renewed.
    var leaseAge: Double?
    var homes: Int
    var routers: Int?
    var alerts: Int?
    /// Messages for the broker that it has not acknowledged.
    var waiting: Int?
    /// What the last commits took, in milliseconds.
    var commitMs: Double?
    /// A word of its node's; `unclaimed`, or `no_key` where it has no key slot.
    var state: String
  }

  struct Node: Codable {
    var name: String
    var address: String
    var version: String
    var capacity: Int
    var shards: Int
    var draining: Bool
    /// Seconds since its last sign of life.
    var seenAgo: Double

    /// It renews each two seconds.
    var isSilent: Bool { seenAgo > 10 }
  }

  struct Fleet: Codable {
    var name: String
    var version: Int
  }

  var fleet: Fleet
  var shards: [Shard]
  var nodes: [Node]

  /// What nobody serves.
  var unclaimed: [Int] { shards.filter { $0.node == nil }.map(\.shard) }
  var rolledBack: [Int] { shards.filter { $0.state == "rolled_back" }.map(\.shard) }

  init(_ database: FleetDatabase) throws(CommandFailure) {
    fleet = try database.fleet()
    shards = try database.rows(
      """
      SELECT v.shard, CASE WHEN is_held THEN node END AS node,
        CASE WHEN is_held THEN address END AS address,
        CASE WHEN is_held THEN greatest(0, 10 - extract(epoch FROM until - now())) END AS lease_age,
        (SELECT count(*) FROM threadkeeper.home h WHERE h.shard = v.shard) AS homes, routers, alerts,
        waiting, commit_ms,
        CASE WHEN NOT EXISTS (SELECT FROM threadkeeper.key_slot k WHERE k.shard = v.shard) THEN 'no_key'
          WHEN is_held OR state IN ('rolled_back', 'no_key', 'altered', 'crashed', 'failed') THEN coalesce(state, '')
          ELSE 'unclaimed' END AS state
      FROM threadkeeper.shard_status v ORDER BY v.shard
      """)
    nodes = try database.rows(
      """
      SELECT name, address, version, capacity, draining, shards,
        extract(epoch FROM now() - seen) AS seen_ago FROM threadkeeper.node_status ORDER BY name
      """)
  }
}
#endif
