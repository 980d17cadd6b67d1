// SPDX-License-Identifier: Apache-2.0

#if Fleet
import KeychainCore
import TestKit
import Testing
import ThreadkeeperDaemon

@testable import Fleet

@Suite("The schema of a fleet", .enabled(if: PostgresServer.isAvailable))
struct FleetSchemaTests {
  @Test("A node's role can do what a store does, and a reader sees nothing that is sealed")
  func roles() throws {
    let server = try PostgresServer()
    let name = try server.makeDatabase()
    try server.run(FleetSchema.script, database: name)
    try server.run(
      """
      CREATE ROLE a_node LOGIN IN ROLE threadkeeper_node;
      CREATE ROLE a_reader LOGIN IN ROLE threadkeeper_reader;
      """)
    try PostgresPool(url: server.url(database: name)).withConnection {
      try FleetSchema.create(name: "north", shards: 2, on: $0)
      // What is there stays.
      try FleetSchema.create(name: "south", shards: 3, on: $0)
    }
    #expect(
      try server.run("SELECT name, version FROM threadkeeper.fleet", database: name) == ["north|1"])
    let pool = PostgresPool(url: server.url(database: name, user: "a_node"))
    try pool.withConnection { _ = try $0.query("UPDATE threadkeeper.shard SET epoch = 1") }
    let store = ShardStore(
      shard: 3, epoch: 1, pool: pool, keys: try ShardKeys.make(shard: 3).keys,
      term: LeaseTerm(.now + .seconds(9)))
    try store.commit(.announcements(1...20))
    var changes = RecordChanges.of(
      .sample(1, "again"), .sample(30, "copy", .copy(of: RecordID(2))),
      .init(id: RecordID(3), home: 7, state: nil))
    changes.published = 20
    try store.commit(changes)
    #expect(try store.unreadable() == [] && store.condition == .healthy)
    #expect(try server.run("SELECT count(*) FROM threadkeeper.outbox", database: name) == ["0"])
    for sql in [
      "DELETE FROM threadkeeper.audit", "UPDATE threadkeeper.key_slot SET sealed = ''",
      "DELETE FROM threadkeeper.shard",
    ] {
      #expect(throws: PostgresError.self) { try pool.withConnection { _ = try $0.query(sql) } }
    }
    for view in ["shard_status", "home_list", "node_status"] {
      try server.run("SELECT * FROM threadkeeper.\(view)", database: name, user: "a_reader")
    }
    for table in [
      "fleet", "shard", "lease", "node", "home", "key_slot", "record", "outbox", "audit",
      "record_0",
    ] {
      let error = #expect(throws: PostgresError.self) {
        try PostgresPool(url: server.url(database: name, user: "a_reader"))
          .withConnection { _ = try $0.query("SELECT * FROM threadkeeper.\(table)") }
      }
      #expect(error?.sqlState == "42501")
    }
  }

  @Test("A program that is too old for a database says so")
  func version() throws {
    let fleet = try FleetFixture()
    try fleet.run("UPDATE threadkeeper.fleet SET oldest = 2, version = 2")
    let error = #expect(throws: CommandFailure.self) {
      try PostgresPool(url: fleet.url).withConnection {
        try FleetSchema.create(name: "test", shards: 1, on: $0)
      }
    }
    #expect(error?.message.contains("too old") == true)
  }

  @Test("Homes are added once, and keep settings that are not named")
  func homes() throws {
    let fleet = try FleetFixture(shards: 2)
    let add = "SELECT shard, name, is_new FROM threadkeeper.add_homes('"
    #expect(
      try fleet.run(
        add + #"[{"shard": 2, "name": "b"}, {"shard": 1, "name": "a", "settings": {"x": 1}}]')"#)
        == ["1|a|t", "2|b|t"])
    #expect(
      try fleet.run(
        add + #"[{"shard": 1, "name": "a", "settings": {"y": 2}}, {"shard": 2, "name": "b"}]')"#)
        == ["1|a|f"])
    #expect(
      try fleet.run("SELECT settings->'x', settings->'y' FROM threadkeeper.home WHERE shard = 1")
        == ["1|2"])
    #expect(
      try fleet.run("SELECT homes_version FROM threadkeeper.shard ORDER BY id") == ["2", "1"])
  }
}
#endif
