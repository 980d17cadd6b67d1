#if Fleet
import Bridge
import Broker
import Home
import Settings
import TestKit
import Testing

@testable import Fleet
@testable import Threadkeeper

@Suite(
  "Numbers in a fleet's database that none can have", .enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(10))
) struct ImpossibleFleetNumberTests {
  private let fleet: TestFleet
  private let settings: Settings
  private let database: FleetDatabase
  private let keys: ShardKeys

  /// Two shards; the first one has something in each table.
  init() throws {
    fleet = try TestFleet(shards: 2)
    settings = try fleet.settings("a")
    database = try FleetDatabase(settings)
    keys = try ShardKeys.opened(1, settings, database)
    let claimed = try claim(except: [2])
    try store(claimed).commit(.announcements(1...20))
    try fleet.sql("UPDATE threadkeeper.lease SET until = '-infinity', state = 'free'")
  }

  private func claim(except others: [Int] = []) throws -> LeaseTable.Claimed {
    let table = LeaseTable(database: database, node: "a", process: "00000000-0000-0000-0000-00000000000a")
    _ = try table.register(address: "localhost", capacity: 8)
    return try #require(try table.claim(except: others, host: "localhost", directory: "/dev/null/f"))
  }

  private func store(_ claimed: LeaseTable.Claimed) -> ShardStore {
    ShardStore(
      shard: claimed.shard, epoch: claimed.epoch, pool: database.pool, keys: keys, term: LeaseTerm(.now + .seconds(60)))
  }

  /// Does all that a node does with the database; each part may be refused.
  private func use() throws {
    _ = try? FleetStatus(database)
    _ = try? database.fleet()
    _ = try? database.homes(of: 1)
    let table = LeaseTable(database: database, node: "a", process: "00000000-0000-0000-0000-00000000000a")
    _ = try? table.register(address: "localhost", capacity: 8)
    guard let claimed = try? table.claim(except: [2], host: "localhost", directory: "/dev/null/f") else { return }
    _ = try? table.renew([.init(shard: claimed.shard, epoch: claimed.epoch, state: .serving)])
    for part in 0...6 {
      let store = store(claimed)
      switch part {
      case 0: _ = try? store.load { _ in }
      case 1: _ = try? store.unreadable()
      case 2: _ = try? store.auditProblem()
      case 3: try? store.forEachAuditRecord(after: store.lastAuditRecord(), limit: 3) { _ in }
      case 4: _ = try? store.messages(after: 0, limit: 100)
      case 5: try? store.commit(.announcements(30...31))
      default:
        var settings = settings
        settings.homes = [.init(name: "home-1", base: "fleet/1/home-1")]
        let bridge = try? Bridge(
          BridgeConfiguration(settings, version: threadkeeperVersion),
          connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test", store: store,
          logger: RecordingLog().logger)
        try? bridge?.loop.tick(Link(connection: 1, listeningSince: nil))
        try? bridge?.loop.stop()
      }
    }
    try? table.release([.init(shard: claimed.shard, epoch: claimed.epoch, state: .free)])
  }

  private struct Column {
    let table: String
    let name: String
    let values: [Int64]
  }

  /// Each column with whole numbers, as the database itself says.
  private func columns() throws -> [Column] {
    try fleet.sql(
      """
      SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
      JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'threadkeeper'::regnamespace
      WHERE c.table_schema = 'threadkeeper' AND c.data_type IN ('smallint', 'integer', 'bigint')
        AND t.relkind IN ('r', 'p') AND NOT t.relispartition
      """
    ).map { line in
      let parts = line.split(separator: "|").map(String.init)
      let isLong = parts[2] == "bigint"
      return Column(
        table: parts[0], name: parts[1],
        values: [isLong ? .min : Int64(Int32.min), -1, 0, isLong ? .max : Int64(Int32.max)])
    }
  }

  @Test("Whatever number stands in whatever column, opening and running a shard end no process") func everyColumn()
    throws
  {
    let columns = try columns()
    for expected in ["outbox.id", "record.id", "audit.id", "shard.epoch", "shard.published"] {
      #expect(columns.contains { "\($0.table).\($0.name)" == expected })
    }
    let tables = Set(columns.map(\.table)).sorted()
    for table in tables { try fleet.sql("CREATE TABLE public.\(table) AS TABLE threadkeeper.\(table)") }
    func restore() throws {
      try fleet.sql(
        "SET session_replication_role = replica;"
          + tables.map { "DELETE FROM threadkeeper.\($0); INSERT INTO threadkeeper.\($0) SELECT * FROM public.\($0);" }
          .joined())
    }
    var altered = 0
    for column in columns {
      for value in column.values {
        let (table, name) = ("threadkeeper.\(column.table)", column.name)
        let only = "WHERE (t.*)::text = (SELECT max((o.*)::text) FROM \(table) o)"
        for rows in ["", only] {
          let sql = "SET session_replication_role = replica; UPDATE \(table) t SET \(name) = \(value) \(rows)"
          // A constraint may refuse it.
          guard (try? fleet.sql(sql)) != nil else { continue }
          altered += 1
          try use()
          try restore()
        }
      }
    }
    #expect(altered > 100)
    #expect(try claim(except: [2]).shard == 1)
  }

  @Test("A message with such a number ends no node: its shard is not served, and others are") func outbox() async throws
  {
    try fleet.sql("UPDATE threadkeeper.outbox SET id = 9223372036854775807 WHERE shard = 1")
    let node = try fleet.start("b")
    try await node.serves([2])
    try await eventually { try fleet.states()[0] == "altered" }
    #expect(node.log.lines.contains { $0.contains("have numbers that none can have") })
    try await node.leave()
  }

  @Test("A shard that is not what its manifest says is not served, and that is said") func altered() async throws {
    try fleet.sql("DELETE FROM threadkeeper.record WHERE shard = 1 AND id = 7")
    let node = try fleet.start("b")
    try await node.serves([2])
    try await eventually { try fleet.states()[0] == "altered" }
    #expect(node.log.lines.contains { $0.hasPrefix("a shard cannot be served") && $0.contains("shard=1") })
    #expect(try FleetStatus(database).shards[0].state == "altered")
    try await node.leave()
  }

  @Test("One that ended two processes that opened it is held back, longer each time; others are not") func crashes()
    throws
  {
    let table = LeaseTable(database: database, node: "a", process: "00000000-0000-0000-0000-00000000000a")
    _ = try table.register(address: "localhost", capacity: 8)
    func claim() throws -> Int? { try table.claim(except: [2], host: "localhost", directory: "/dev/null/f")?.shard }
    /// Who opens it dies.
    func crash() throws {
      try fleet.sql("UPDATE threadkeeper.lease SET until = '-infinity', held_back_until = '-infinity' WHERE shard = 1")
    }
    func held() throws -> [String] {
      try fleet.sql(
        """
        SELECT crashes, state, round(extract(epoch FROM greatest(held_back_until, now()) - now()) / 60)
        FROM threadkeeper.lease WHERE shard = 1
        """)
    }
    #expect(try claim() == 1)
    try crash()
    #expect(try claim() == nil && held() == ["1|crashed|0"])
    #expect(try claim() == 1)
    try crash()
    #expect(try claim() == nil && claim() == nil && held() == ["2|crashed|1"])
    #expect(try FleetStatus(database).shards[0].state == "crashed")
    #expect(try table.claim(except: [], host: "localhost", directory: "/dev/null/f")?.shard == 2)
    for minutes in [2, 4, 8, 16, 32, 60, 60] {
      try fleet.sql("UPDATE threadkeeper.lease SET held_back_until = '-infinity' WHERE shard = 1")
      #expect(try claim() == 1)
      try crash()
      #expect(try claim() == nil)
      let found = try held()
      #expect(found[0].hasSuffix("|crashed|\(minutes)"), "\(found)")
    }
    // One that is served has not ended its process.
    try fleet.sql("UPDATE threadkeeper.lease SET held_back_until = '-infinity' WHERE shard = 1")
    let claimed = try #require(try table.claim(except: [2], host: "localhost", directory: "/dev/null/f"))
    _ = try table.renew([.init(shard: 1, epoch: claimed.epoch, state: .serving)])
    #expect(try held() == ["0|serving|0"])
  }
}
#endif
