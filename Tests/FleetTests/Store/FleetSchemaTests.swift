#if Fleet
import KeychainCore
import Testing

@testable import Fleet
@testable import Threadkeeper

@Suite("The schema of a fleet", .enabled(if: PostgresServer.isAvailable)) struct FleetSchemaTests {
  @Test("A node's role can do what a store does, and a reader sees nothing that is sealed") func roles() throws {
    let server = try PostgresServer.shared()
    let (node, reader) = try PostgresServer.roles.get()
    let name = try server.makeDatabase()
    try server.run(FleetSchema.script, database: name)
    try PostgresPool(url: server.url(database: name)).withConnection {
      try FleetSchema.create(name: "north", shards: 2, on: $0)
      // What is there stays.
      try FleetSchema.create(name: "south", shards: 3, on: $0)
    }
    let fleet = try server.run("SELECT name, version FROM threadkeeper.fleet", database: name)
    #expect(fleet == ["north|\(FleetSchema.version)"])
    let pool = PostgresPool(url: server.url(database: name, user: node))
    try pool.withConnection { _ = try $0.query("UPDATE threadkeeper.shard SET epoch = 1") }
    let store = ShardStore(
      shard: 3, epoch: 1, pool: pool, keys: try ShardKeys.make(shard: 3).keys, term: LeaseTerm(.now + .seconds(9)))
    try store.commit(.announcements(1...20))
    var changes = RecordChanges.of(
      .sample(1, "again"), .sample(30, "copy", .copy(of: RecordID(2))), .init(id: RecordID(3), home: 7, state: nil))
    changes.published = 20
    try store.commit(changes)
    #expect(try store.unreadable() == [] && store.condition == .healthy)
    #expect(try server.run("SELECT count(*) FROM threadkeeper.outbox", database: name) == ["0"])
    for sql in [
      "DELETE FROM threadkeeper.audit", "UPDATE threadkeeper.key_slot SET sealed = ''",
      "DELETE FROM threadkeeper.shard",
    ] { #expect(throws: PostgresError.self) { try pool.withConnection { _ = try $0.query(sql) } } }
    for view in ["shard_status", "home_list", "node_status"] {
      try server.run("SELECT * FROM threadkeeper.\(view)", database: name, user: reader)
    }
    for table in ["fleet", "shard", "lease", "node", "home", "key_slot", "record", "outbox", "audit", "record_0"] {
      let error = #expect(throws: PostgresError.self) {
        try PostgresPool(url: server.url(database: name, user: reader)).withConnection {
          _ = try $0.query("SELECT * FROM threadkeeper.\(table)")
        }
      }
      #expect(error?.sqlState == "42501")
    }
  }

  @Test("A program that is too old for a database, or too new, says so") func version() throws {
    let fleet = try TestFleet(shards: 1)
    let database = try FleetDatabase(fleet.settings())
    let newer = FleetSchema.version + 1
    for (version, oldest, words) in [(newer, newer, "a newer program"), (0, 0, "an older program")] {
      try fleet.sql("UPDATE threadkeeper.fleet SET version = \(version), oldest = \(oldest)")
      let error = #expect(throws: CommandFailure.self) { try database.fleet() }
      #expect(error?.status == .configuration && error?.remedy?.contains(words) == true)
    }
    try fleet.sql("UPDATE threadkeeper.fleet SET version = \(newer), oldest = \(newer)")
    let error = #expect(throws: CommandFailure.self) {
      try database.connected { try FleetSchema.create(name: "test", shards: 1, on: $0) }
    }
    #expect(error?.message.contains("too old") == true)
  }

  @Test("Homes are added once, and keep settings that are not named") func homes() throws {
    let fleet = try FleetFixture(shards: 2)
    let add = "SELECT shard, name, is_new FROM threadkeeper.add_homes('"
    #expect(
      try fleet.run(add + #"[{"shard": 2, "name": "b"}, {"shard": 1, "name": "a", "settings": {"x": 1}}]')"#) == [
        "1|a|t", "2|b|t",
      ])
    #expect(
      try fleet.run(add + #"[{"shard": 1, "name": "a", "settings": {"y": 2}}, {"shard": 2, "name": "b"}]')"#) == [
        "1|a|f"
      ])
    #expect(try fleet.run("SELECT settings->'x', settings->'y' FROM threadkeeper.home WHERE shard = 1") == ["1|2"])
    #expect(try fleet.run("SELECT homes_version FROM threadkeeper.shard ORDER BY id") == ["2", "1"])
  }

  @Test("A key that its program does not give back is not stored; what is missing is made later") func keys() throws {
    let fleet = try TestFleet(shards: 0)
    var settings = try fleet.settings()
    func make(_ seal: String, _ unseal: String, shards: Int? = nil, name: String? = nil) throws -> [String] {
      settings.fleet.sealCommand = ["sh", "-c", seal]
      settings.fleet.unsealCommand = ["sh", "-c", unseal]
      _ = try FleetInit(settings, FleetDatabase(settings)).run(shards: shards, name: name, progress: { _ in })
      return try fleet.sql("SELECT sealed FROM threadkeeper.key_slot ORDER BY shard")
    }
    for (seal, unseal, status) in [
      ("printf sealed; cat", "cat", ExitStatus.configuration), ("cat", "cat", .configuration),
      ("exit 1", "cat", .temporary),
    ] {
      let error = #expect(throws: CommandFailure.self) { try make(seal, unseal, shards: 1) }
      #expect(error?.status == status, "\(seal)")
      #expect(try fleet.sql("SELECT count(*) FROM threadkeeper.key_slot") == ["0"])
    }
    let (seal, unseal) = ("printf sealed; cat", "tail -c +7")
    let first = try make(seal, unseal)
    #expect(first.count == 1)
    // What is there stays.
    let both = try make(seal, unseal, shards: 2)
    #expect(both.count == 2 && both[0] == first[0])
    let error = #expect(throws: CommandFailure.self) { try make(seal, unseal, name: "other") }
    #expect(error?.status == .usage)
  }
}
#endif
