#if Fleet
import Foundation
import KeychainCore
import TestKit
import Testing

@testable import Fleet

extension LeaseTerm {
  convenience init(lasting time: Duration) { self.init(.now + time) }

  /// From now on.
  func last(_ time: Duration) { end = .now + time }
}

/// A database with a fleet, and the stores of its shards.
struct FleetFixture {
  let server: PostgresServer
  let name: String
  private let keys: [ShardKeys]

  init(_ server: PostgresServer? = nil, shards: Int = 1) throws {
    self.server = try server ?? .shared()
    name = try self.server.makeFleet(shards: shards)
    keys = try (1...shards).map { try ShardKeys.make(shard: $0).keys }
  }

  var url: String { server.url(database: name) }

  /// A way to the server that can be disturbed, and how a store uses it.
  func relay() throws -> (relay: Relay, url: String) {
    let relay = try Relay(toPostgres: server.socketPath)
    return (relay, relay.url(database: name))
  }

  @discardableResult func run(_ sql: String) throws -> [String] { try server.run(sql, database: name) }

  /// Claims a shard: whoever had it has it no more.
  func claim(
    _ shard: Int = 1, url: String? = nil, keysOf other: Int? = nil, lease: LeaseTerm = LeaseTerm(lasting: .seconds(600))
  ) throws -> ShardStore {
    let epoch = try run("UPDATE threadkeeper.shard SET epoch = epoch + 1 WHERE id = \(shard) RETURNING epoch")
    return store(shard, epoch: Int64(epoch[0]) ?? 0, url: url, keysOf: other, lease: lease)
  }

  func store(
    _ shard: Int, epoch: Int64, url: String? = nil, keysOf other: Int? = nil,
    lease: LeaseTerm = LeaseTerm(lasting: .seconds(600))
  ) -> ShardStore {
    ShardStore(
      shard: shard, epoch: epoch, pool: PostgresPool(url: url ?? self.url, size: 4), keys: keys[(other ?? shard) - 1],
      term: lease)
  }

  /// Rows of each table, and the generation.
  func counts() throws -> [String] {
    try run(
      """
      SELECT (SELECT count(*) FROM threadkeeper.record), (SELECT count(*) FROM threadkeeper.outbox),
        (SELECT count(*) FROM threadkeeper.audit), (SELECT sum(generation) FROM threadkeeper.shard)
      """)
  }

  func alter(_ sql: String) throws { try run(sql.replacingOccurrences(of: "record", with: "threadkeeper.record")) }
}

extension RecordChanges {
  /// First announcements, each with a secret, a message and every tenth with a line of the audit.
  static func announcements(_ ids: ClosedRange<Int64>, _ word: String = "router") -> RecordChanges {
    var changes = RecordChanges.of(ids.map { .sample($0, "\(word) \($0)", .text("dataset \($0)")) })
    changes.messages = ids.map { StoredMessage(id: $0, bytes: Array("event \($0)".utf8)) }
    changes.audit = ids.filter { $0 % 10 == 0 }.map { .init(actor: nil, .credentialsGiven, "router \($0)") }
    return changes
  }
}

/// A copy of all that a database has of shards, which can be put back as an administrator would restore it.
struct SavedShards {
  private static let tables = ["record", "outbox", "audit"]
  private let server: PostgresServer
  private let database: String

  /// Makes the copy.
  init(_ server: PostgresServer, _ database: String) throws {
    (self.server, self.database) = (server, database)
    for table in ["shard"] + Self.tables {
      try server.run("CREATE TABLE public.\(table) AS TABLE threadkeeper.\(table)", database: database)
    }
  }

  func restore(_ shard: Int = 1) throws {
    let rows = Self.tables.map {
      """
      DELETE FROM threadkeeper.\($0) WHERE shard = \(shard);
      INSERT INTO threadkeeper.\($0) SELECT * FROM public.\($0) WHERE shard = \(shard);
      """
    }
    try server.run(
      rows.joined() + """
        UPDATE threadkeeper.shard s SET (epoch, generation, manifest, published)
          = (o.epoch, o.generation, o.manifest, o.published)
        FROM public.shard o WHERE o.id = s.id AND s.id = \(shard)
        """, database: database)
  }
}
#endif
