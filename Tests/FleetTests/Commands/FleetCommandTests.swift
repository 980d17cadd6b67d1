// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Foundation
import TestKit
import Testing

@testable import Fleet

/// The real program, with a real database and a real broker.
@Suite("Fleet commands", .enabled(if: PostgresServer.isAvailable))
struct FleetCommandTests {
  @Test("From an empty database to a home that has moved")
  func story() async throws {
    let fleet = try CommandFleet()
    let made = try await fleet.check("fleet", "init", "--name", "north", "--shards", "3")
    #expect(made.contains("`north` has 3 shards"))
    #expect(try await fleet.check("fleet", "init").contains("0 of them new"))

    try await fleet.check("fleet", "homes", "add", "2/smith", "2/jones", "--set", "alerts.hold=0")
    let added = try await fleet.check(
      "fleet", "homes", "add", "--file", "-",
      input: .text("1/brown alerts.hold=5\n\n2/smith\n"))
    #expect(added == "Homes: 1 added, 0 changed, 1 unchanged.\n")
    #expect(
      try await fleet.check("fleet", "homes").split(separator: "\n").dropFirst().map {
        $0.split(separator: " ").joined(separator: " ")
      }
        == ["1/brown alerts.hold=5", "2/jones alerts.hold=0", "2/smith alerts.hold=0"])

    let nameless = try await fleet.run("routers")
    #expect(nameless.status == 64 && nameless.error.contains("--home SHARD/NAME"))
    #expect(try await fleet.run("store", "restore", "/dev/null").status == 64)

    let nobody = try await fleet.run("routers", "--home", "2/smith")
    #expect(nobody.status == 69)
    #expect(nobody.error.contains("no node has the shard 2"))

    let node = try fleet.start()
    try await fleet.served()
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    let known = #","dataset":"\#(dataset)","name":""#
    try await fleet.announce("2/smith", "a1b2c3d4e5f60718", known + #"there""#)
    try await fleet.announce("2/jones", "a1b2c3d4e5f60719", known + #"there""#)
    let routers = try await fleet.check("routers", "--home=2/smith")
    #expect(routers.contains("a1b2c3d4e5f60718"))
    #expect(!routers.contains("a1b2c3d4e5f60719"), "rows of another home")
    #expect(
      try await fleet.check(
        "credentials", "get", "a1b2c3d4e5f60718", "--home", "2/smith", "--show-secrets"
      )
      .contains(dataset))
    #expect(try await fleet.run("preferred", "show", "--home", "2/brown").status == 64)
    #expect(try await fleet.run("run", "--home", "2/smith").status == 64)
    try await eventually("the figures are there") {
      try await fleet.status().shards[1].routers == 2
    }
    let table = try await fleet.check("fleet", "status")
    #expect(table.contains("serving") && table.contains("one"))
    let doctor = try await fleet.run("fleet", "doctor")
    #expect(doctor.output.contains("opens shard 1"), "\(doctor.output)")
    #expect(doctor.output.contains("All 3 shards are served"))
    #expect(doctor.output.contains("The anchors of shards can be published"))
    #expect(doctor.output.contains("keeps a session"))
    #expect(doctor.output.contains("as a superuser may"))

    try await fleet.check("fleet", "homes", "move", "2/smith", "3")
    try await fleet.served()
    let moved = try await fleet.check("routers", "--home", "3/smith")
    #expect(moved.contains("a1b2c3d4e5f60718"))
    #expect(
      try await fleet.check(
        "credentials", "get", "a1b2c3d4e5f60718", "--home", "3/smith", "--show-secrets"
      )
      .contains(dataset))
    // The same dataset, by the keys of another shard: nothing is new.
    try await fleet.announce("3/smith", "a1b2c3d4e5f60718", known + #"here""#, until: "here")
    #expect(try await fleet.check("routers", "--home", "3/smith").contains("match"))
    #expect(!(try await fleet.check("alerts", "--home", "3/smith").contains("a1b2c3d4e5f60718")))
    #expect(try await fleet.run("routers", "--home", "2/smith").status == 64)
    #expect(
      try await fleet.check("fleet", "homes", "move", "2/smith", "3").contains("3/smith"), "again")
    try await fleet.served()
    #expect(try await fleet.check("routers", "--home", "2/jones").contains("a1b2c3d4e5f60719"))
    #expect(
      try await fleet.check("audit", "--home", "3/smith").contains(
        "home 3/smith, before 2/smith"))

    try await fleet.check("fleet", "drain", "one")
    #expect(try await fleet.status().nodes.first?.shards == 0)
    #expect(try await fleet.status().unclaimed == [1, 2, 3])
    #expect(try await fleet.run("fleet", "doctor").status != 0)
    try await fleet.check("fleet", "drain", "one", "--undo")
    try await fleet.served()
    #expect(node.stop() == .exit(0), "\(node.text)")
    let dump = try fleet.server.dump(database: fleet.database)
    #expect(!dump.contains(dataset) && !dump.contains("a1b2c3d4e5f60718"))
  }

  @Test("What an administrator is given makes all that the roles need")
  func administrator() async throws {
    let fleet = try CommandFleet()
    let sql = try await ThreadkeeperBinary.run("fleet", "init", "--print-sql")
    #expect(sql.status == 0, "\(sql.error)")
    let other = try CommandFleet()
    try fleet.server.run(sql.output, database: fleet.database)
    try fleet.server.run(
      """
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tk_node') THEN
          CREATE ROLE tk_node LOGIN IN ROLE threadkeeper_node;
          CREATE ROLE tk_reader LOGIN IN ROLE threadkeeper_reader;
        END IF;
      END $$
      """)
    let node = try fleet.settings(user: "tk_node")
    let refused = try await other.run(
      "fleet", "init", settings: try other.settings(user: "tk_node"))
    #expect(refused.status == 77 && refused.error.contains("--print-sql"), "\(refused.error)")
    try await fleet.check("fleet", "init", "--name", "north", "--shards", "1", settings: node)
    #expect(try await fleet.check("fleet", "status", settings: node).contains("Fleet north"))
    try await fleet.check("fleet", "homes", "add", "1/smith", settings: node)
    let running = try fleet.start(node)
    try await fleet.served()
    let doctor = try await fleet.run("fleet", "doctor", settings: node)
    for words in ["can do what a node does", "can do no more"] {
      #expect(doctor.output.contains(words), "\(doctor.output)")
    }
    try await fleet.announce("1/smith", "a1b2c3d4e5f60718", settings: node)
    #expect(running.stop() == .exit(0))
    for view in ["shard_status", "node_status", "home_list"] {
      #expect(
        try !fleet.server.run(
          "SELECT * FROM threadkeeper.\(view)", database: fleet.database, user: "tk_reader"
        ).isEmpty)
    }
    #expect(throws: (any Error).self) {
      try fleet.server.run(
        "SELECT * FROM threadkeeper.record", database: fleet.database, user: "tk_reader")
    }
    #expect(throws: (any Error).self) {
      try fleet.server.run(
        "UPDATE threadkeeper.key_slot SET sealed = ''", database: fleet.database,
        user: "tk_node")
    }
  }

  @Test(
    "A key that its program does not give back is not stored",
    arguments: [("printf sealed; cat", "cat", 78), ("cat", "cat", 78), ("exit 1", "cat", 75)])
  func keys(_ seal: String, _ unseal: String, _ status: Int32) async throws {
    let fleet = try CommandFleet()
    let settings = try fleet.settings(seal: seal, unseal: unseal)
    #expect(
      try await fleet.run("fleet", "init", "--shards", "1", settings: settings).status == status)
    #expect(
      try fleet.server.run("SELECT count(*) FROM threadkeeper.key_slot", database: fleet.database)
        == ["0"])
    // What was missing is made later, and what is there stays.
    try await fleet.check("fleet", "init")
    let slot = try fleet.server.run(
      "SELECT sealed FROM threadkeeper.key_slot", database: fleet.database)
    try await fleet.check("fleet", "init", "--shards", "2")
    #expect(
      try fleet.server.run(
        "SELECT sealed FROM threadkeeper.key_slot WHERE shard = 1", database: fleet.database)
        == slot)
    #expect(try await fleet.run("fleet", "init", "--name", "other").status == 64)
  }

  @Test("Wrong use and missing parts have their words and numbers")
  func failures() async throws {
    let fleet = try CommandFleet()
    #expect(try await fleet.run("fleet", "status").status == 78)
    for arguments in [
      ["fleet", "homes", "add", "nonsense"], ["fleet", "homes", "add"],
      ["fleet", "init", "--shards", "0"],
      ["routers", "--home", "x/y"],
    ] {
      let outcome = try await ThreadkeeperBinary.run(
        arguments + ["--config", try fleet.settings()])
      #expect(outcome.status == 64, "\(arguments): \(outcome.error)")
    }
    try await fleet.check("fleet", "init", "--shards", "1")
    #expect(try await fleet.run("fleet", "homes", "add", "9/smith").error.contains("no shard 9"))
    #expect(
      try await fleet.run("fleet", "homes", "add", "1/smith", "--set", "mqtt.port=1").status == 64)
    #expect(try await fleet.run("fleet", "drain", "nobody").status == 64)
    #expect(try await fleet.run("fleet", "accept", "1").status == 64, "no terminal, no --yes")
    #expect(try await fleet.check("fleet", "accept", "1", "--yes").contains("not rolled back"))
    let home = try await ThreadkeeperBinary.run(
      "fleet", "status", "--state-directory", fleet.directory.file("home"))
    #expect(home.status == 78)
    #expect(home.error.contains("`store.url` is not set"))
  }

  @Test("A home of another host is asked by ssh, with the same arguments")
  func elsewhere() async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "1")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    try fleet.server.run(
      """
      UPDATE threadkeeper.lease SET node = 'far', address = 'far.test:/s/shards/1/varlink.sock',
        until = now() + interval '1 hour'
      """, database: fleet.database)
    let ssh = fleet.directory.file("ssh")
    try "#!/bin/sh\necho \"$#\"; printf '<%s>' \"$@\"; cat; exit 5\n".write(
      toFile: ssh, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: ssh)
    let settings = try fleet.settings()
    let outcome = try await fleet.run(
      "clients", "revoke", "it's", "--home", "1/smith", settings: settings,
      environment: ["PATH": "\(fleet.directory.path):/usr/bin:/bin"])
    #expect(outcome.status == 5, "\(outcome.error)")
    #expect(
      outcome.output
        == "2\n<far.test><THREADKEEPER_FLEET_ADDRESS=far.test threadkeeper clients revoke "
        + "'it'\\''s' --home 1/smith --config \(settings)>")
    for command in ["check", "set"] {
      let piped = try await fleet.run(
        "preferred", command, "-", "--home", "1/smith", settings: settings,
        environment: ["PATH": "\(fleet.directory.path):/usr/bin:/bin"], input: .text("0e08"))
      #expect(piped.output.hasSuffix(">0e08"), "what is piped in arrives there")
    }
  }

  @Test(
    "A program that is too old for the database says so", arguments: ["status", "drain", "doctor"])
  func tooOld(_ command: String) async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "1")
    try fleet.server.run(
      "UPDATE threadkeeper.fleet SET version = 99, oldest = 99", database: fleet.database)
    let settings = try fleet.settings()
    // `doctor` ends like its first problem: this one shall be the only one.
    chmod(settings, 0o600)
    let outcome = try await ThreadkeeperBinary.run(
      ["fleet", command] + (command == "drain" ? ["one"] : []) + ["--config", settings])
    #expect(outcome.status == 78)
    #expect(
      (outcome.output + outcome.error).lowercased().contains("use a newer program"),
      "\(outcome.output)\(outcome.error)")
  }

  @Test(
    "A move that is stopped while it waits gives back what it has", arguments: [SIGINT, SIGTERM])
  func stoppedMove(_ signal: Int32) async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "2")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    try fleet.server.run(
      "UPDATE threadkeeper.lease SET until = now() + interval '1 hour' WHERE shard = 2",
      database: fleet.database)
    let move = try ChildProcess(
      ThreadkeeperBinary.executable.path,
      ["fleet", "homes", "move", "1/smith", "2", "--config", fleet.settings()],
      environment: ["PATH": "/usr/bin:/bin"])
    func held() throws -> [String] {
      try fleet.server.run(
        """
        SELECT shard FROM threadkeeper.lease WHERE shard = 1 AND until > now()
        UNION ALL SELECT shard FROM threadkeeper.lease WHERE held_back_until > now() ORDER BY 1
        """, database: fleet.database)
    }
    try await eventually("it has one and waits for the other") { try held() == ["1", "1", "2"] }
    move.signal(signal)
    #expect(move.wait(within: 10) == .exit(128 + signal))
    #expect(try held().isEmpty)
  }

  @Test("A move that is interrupted is finished by the same command")
  func interruptedMove() async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "2")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    let node = try fleet.start()
    try await fleet.served()
    try await fleet.announce("1/smith", "a1b2c3d4e5f60718")
    #expect(node.stop() == .exit(0))
    func records(_ shard: Int) throws -> [String] {
      try fleet.server.run(
        "SELECT count(*) FROM threadkeeper.record WHERE shard = \(shard) AND home <> 0",
        database: fleet.database)
    }
    let before = try records(1)
    try fleet.server.run(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON threadkeeper.home FOR EACH ROW
        EXECUTE FUNCTION refuse();
      CREATE TRIGGER refuse BEFORE DELETE ON threadkeeper.record FOR EACH ROW
        WHEN (OLD.shard = 1) EXECUTE FUNCTION refuse()
      """, database: fleet.database)
    for table in ["home", "record"] {
      #expect(try await fleet.run("fleet", "homes", "move", "1/smith", "2").status != 0)
      #expect(try records(1) == before)
      #expect(try records(2) == before)
      try fleet.server.run("DROP TRIGGER refuse ON threadkeeper.\(table)", database: fleet.database)
    }
    try await fleet.check("fleet", "homes", "move", "1/smith", "2")
    #expect(try records(1) == ["1"], "its note")
    #expect(try records(2) == before)
    let again = try fleet.start()
    try await fleet.served()
    #expect(try await fleet.check("routers", "--home", "2/smith").contains("a1b2c3d4e5f60718"))
    #expect(again.stop() == .exit(0))
  }

  @Test("Two moves of one home at once, also back, lose nothing of it")
  func movesAtOnce() async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "3")
    try await fleet.check("fleet", "homes", "add", "2/smith")
    let node = try fleet.start()
    try await fleet.served()
    for id in ["a1b2c3d4e5f60718", "a1b2c3d4e5f60719"] { try await fleet.announce("2/smith", id) }
    async let first = fleet.run("fleet", "homes", "move", "2/smith", "3")
    async let second = fleet.run("fleet", "homes", "move", "2/smith", "3")
    let ends = try await [first, second]
    #expect(ends.allSatisfy { $0.status == 0 }, "\(ends.map(\.error))")
    try await fleet.served()
    func check(_ home: String) async throws {
      let routers = try await fleet.check("routers", "--home", home)
      #expect(routers.contains("a1b2c3d4e5f60718") && routers.contains("a1b2c3d4e5f60719"))
    }
    try await check("3/smith")
    async let back = fleet.run("fleet", "homes", "move", "3/smith", "1")
    async let elsewhere = fleet.run("fleet", "homes", "move", "3/smith", "2")
    #expect(try await [back, elsewhere].map(\.status).sorted() == [0, 64])
    try await fleet.served()
    let homes = try await fleet.check("fleet", "homes")
    try await check(homes.contains("1/smith") ? "1/smith" : "2/smith")
    #expect(node.stop() == .exit(0))
  }

  @Test("What another home of the same name does not have is not deleted")
  func sameName() async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "2")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    let node = try fleet.start()
    try await fleet.served()
    try await fleet.announce("1/smith", "a1b2c3d4e5f60718")
    try fleet.server.run(
      "UPDATE threadkeeper.home SET shard = 2; UPDATE threadkeeper.shard SET homes_version = homes_version + 1",
      database: fleet.database)
    let move = try await fleet.run("fleet", "homes", "move", "1/smith", "2")
    #expect(move.status == 64 && move.error.contains("another home"), "\(move.error)")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    try await fleet.served()
    try await eventually("its router is there") {
      try await fleet.run("routers", "--home", "1/smith").output.contains("a1b2c3d4e5f60718")
    }
    #expect(node.stop() == .exit(0))
  }

  @Test("A database that was put back is served when that is accepted")
  func accept() async throws {
    let fleet = try CommandFleet()
    try await fleet.check("fleet", "init", "--shards", "1")
    try await fleet.check("fleet", "homes", "add", "1/smith")
    let node = try fleet.start()
    try await fleet.served()
    try await fleet.announce("1/smith", "a1b2c3d4e5f60718")
    #expect(node.stop() == .exit(0))
    // A newer state than the database has: its anchor, as if this were an older copy.
    let tables = ["shard", "record", "outbox", "audit"]
    let copy = tables.map { "CREATE TABLE old_\($0) AS SELECT * FROM threadkeeper.\($0);" }.joined()
    try fleet.server.run(copy, database: fleet.database)
    let again = try fleet.start()
    try await fleet.served()
    try await fleet.announce("1/smith", "a1b2c3d4e5f60719")
    #expect(again.stop() == .exit(0))
    let restore =
      tables.dropFirst().map {
        "DELETE FROM threadkeeper.\($0); INSERT INTO threadkeeper.\($0) SELECT * FROM old_\($0);"
      }.joined()
      + "UPDATE threadkeeper.shard s SET generation = o.generation, manifest = o.manifest FROM old_shard o WHERE o.id = s.id"
    try fleet.server.run(restore, database: fleet.database)
    let third = try fleet.start()
    try await eventually("it is noticed") { try await fleet.status().rolledBack == [1] }
    #expect(try await fleet.check("fleet", "status").contains("fleet accept"))
    #expect(try await fleet.check("fleet", "accept", "1", "--yes").contains("is accepted"))
    try await fleet.served()
    let routers = try await fleet.check("routers", "--home", "1/smith")
    #expect(routers.contains("a1b2c3d4e5f60718") && !routers.contains("a1b2c3d4e5f60719"))
    #expect(try await fleet.check("audit", "--home", "1/smith").contains("rollback"))
    #expect(third.stop() == .exit(0))
  }
}
#endif
