#if Fleet
import KeychainCore
import Threadkeeper

/// All that a node asks the database for its leases. Blocks; one thread at a time.
struct LeaseTable {
  let database: FleetDatabase
  /// Of this node.
  let node: String
  /// Of this process, which distinguishes it from others of the same name: a UUID.
  let process: String

  /// How a shard is, for operators: written with each renewal.
  struct Figures: Encodable {
    let shard: Int
    let epoch: Int64
    /// Nil: as before.
    var homes: Int?
    var routers: Int?
    var alerts: Int?
    var waiting: Int?
    var commitMs: Double?
    var state: LeaseState?
  }

  struct Claimed: Decodable {
    let shard: Int
    let epoch: Int64
    let homesVersion: Int64
  }

  /// Makes this process the one of its node's name. What another one of this name has can be claimed at once.
  ///
  /// - Returns: the fleet's name.
  /// - Throws: `CommandFailure`, also for a database that this program cannot work with.
  func register(address: String, capacity: Int) throws(CommandFailure) -> String {
    let fleet = try database.fleet()
    try database.run(
      """
      INSERT INTO threadkeeper.node (name, process, address, version, capacity, draining, seen)
      VALUES ($1, $2::uuid, $3, $4, $5::int, false, now())
      ON CONFLICT (name) DO UPDATE SET process = excluded.process, address = excluded.address,
        version = excluded.version, capacity = excluded.capacity, seen = excluded.seen
      """, [node, process, address, threadkeeperVersion, "\(capacity)"])
    return fleet.name
  }

  /// Renews all leases in one statement. It waits for no disk and no standby: a renewal that a crash of the database has
  /// undone ends a lease early, and the epoch is the fence.
  ///
  /// - Returns: those that are renewed, and whether the node is to have none; nil: another process has its name.
  func renew(_ leases: [Figures]) throws(CommandFailure) -> (renewed: [Leases.Renewed], isDraining: Bool)? {
    struct Row: Decodable {
      let draining: Bool
      let shard: Int?
      let epoch: Int64?
      let homesVersion: Int64?
      let isHeldBack: Bool?
    }
    let rows = try database.rows(
      with: """
        me AS (UPDATE threadkeeper.node SET seen = now() WHERE name = $1 AND process = $2::uuid
          RETURNING draining, set_config('synchronous_commit', 'off', true)),
        mine AS (UPDATE threadkeeper.lease l
          SET until = clock_timestamp() + interval '\(Leases.seconds) s', homes = coalesce(r.homes, l.homes),
            routers = coalesce(r.routers, l.routers), alerts = coalesce(r.alerts, l.alerts),
            waiting = coalesce(r.waiting, l.waiting), commit_ms = coalesce(r.commit_ms, l.commit_ms),
            state = coalesce(r.state, l.state),
            crashes = CASE WHEN r.state = 'serving' THEN 0 ELSE l.crashes END
          FROM json_to_recordset($3::json) AS r(shard int, epoch bigint, homes int, routers int,
            alerts int, waiting int, commit_ms real, state text)
          WHERE l.shard = r.shard AND l.epoch = r.epoch AND l.process = $2::uuid
          RETURNING l.shard, l.epoch, l.held_back_until > now() AS is_held_back),
        """,
      """
      SELECT me.draining, mine.shard, mine.epoch, s.homes_version, mine.is_held_back
      FROM me LEFT JOIN mine ON true LEFT JOIN threadkeeper.shard s ON s.id = mine.shard
      """, [node, process, try JSONText.line(leases)], as: Row.self)
    guard let first = rows.first else { return nil }
    let renewed = rows.compactMap { row -> Leases.Renewed? in
      guard let shard = row.shard, let epoch = row.epoch, let homes = row.homesVersion else { return nil }
      return .init(claim: .init(shard: shard, epoch: epoch), homesVersion: homes, isHeldBack: row.isHeldBack == true)
    }
    return (renewed, first.draining)
  }

  /// Claims a shard that nobody has; also one that a process of this node's name has, which is dead then or has given it
  /// up. What is locked just now, by a commit or another claim, is left for the next time.
  ///
  /// One that a dead process was opening is noted as crashed, and claimed the next time. When that has ended two of
  /// them in a row, it is held back for a minute, and then for twice as long each time, an hour at most: it does not
  /// end node after node.
  ///
  /// - Parameters:
  ///   - others: shards that are not to be claimed.
  ///   - host: for its address, and the directory of all shards.
  func claim(except others: [Int], host: String, directory: String) throws(CommandFailure) -> Claimed? {
    let claimed: [Claimed] = try database.rows(
      with: """
        crashed AS (UPDATE threadkeeper.lease SET state = 'crashed', crashes = least(crashes, 100) + 1,
            node = NULL, process = NULL, address = NULL, until = '-infinity',
            held_back_until = CASE WHEN crashes < 1 THEN held_back_until
              ELSE now() + least(interval '1 hour', interval '1 minute' * 2 ^ least(crashes - 1, 6)) END
          WHERE shard IN (SELECT shard FROM threadkeeper.lease
            WHERE state = 'starting' AND (until <= now() OR node = $1 AND process <> $2::uuid)
            FOR UPDATE SKIP LOCKED)),
        free AS (SELECT s.id FROM threadkeeper.lease l JOIN threadkeeper.shard s ON s.id = l.shard
          WHERE (l.until <= now() OR l.node = $1) AND l.held_back_until <= now()
            AND l.state IS DISTINCT FROM 'rolled_back' AND l.state IS DISTINCT FROM 'starting'
            AND s.epoch < \(RowNumber.all.upperBound)
            AND l.shard <> ALL ($3::int[])
            AND EXISTS (SELECT FROM threadkeeper.key_slot k WHERE k.shard = l.shard)
            AND NOT EXISTS (SELECT FROM threadkeeper.node n WHERE n.name = $1 AND n.draining)
          ORDER BY l.node = $1 DESC NULLS LAST, s.id LIMIT 1 FOR UPDATE OF l, s SKIP LOCKED),
        raised AS (UPDATE threadkeeper.shard s SET epoch = s.epoch + 1 FROM free WHERE s.id = free.id
          RETURNING s.id, s.epoch, s.homes_version),
        taken AS (UPDATE threadkeeper.lease l
          SET node = $1, process = $2::uuid, epoch = r.epoch, state = 'starting',
            address = $4 || ':' || $5 || '/' || l.shard || '/varlink.sock',
            until = clock_timestamp() + interval '\(Leases.seconds) s'
          FROM raised r WHERE l.shard = r.id RETURNING r.id AS shard, r.epoch, r.homes_version),
        """, "SELECT * FROM taken",
      [node, process, "{\(others.map(String.init).joined(separator: ","))}", host, directory])
    return claimed.first
  }

  /// Lets others claim shards at once.
  func release(_ leases: [Figures]) throws(CommandFailure) {
    try database.run(
      """
      UPDATE threadkeeper.lease l
      SET until = '-infinity', node = NULL, process = NULL, address = NULL, state = r.state, crashes = 0
      FROM json_to_recordset($2::json) AS r(shard int, epoch bigint, state text)
      WHERE l.shard = r.shard AND l.epoch = r.epoch AND l.process = $1::uuid
      """, [process, try JSONText.line(leases)])
  }
}
#endif
