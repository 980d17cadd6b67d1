#if Fleet
@testable import Fleet
import Foundation
import TestKit
import Testing
@testable import Threadkeeper

/// The real program, with a real database and a real broker.
@Suite("Fleet commands", .enabled(if: PostgresServer.isAvailable)) struct FleetCommandTests {
  private static let (first, second) = ("a1b2c3d4e5f60718", "a1b2c3d4e5f60719")

  @Test("From an empty database to a home that has moved") func story() async throws {
    let fleet = try TestFleet(shards: 0)
    let made = try await fleet.check("fleet", "init", "--name", "north", "--shards", "3")
    #expect(made.contains("`north` has 3 shards"))
    #expect(try await fleet.check("fleet", "init").contains("0 of them new"))

    try await fleet.check("fleet", "homes", "add", "2/smith", "2/jones", "--set", "alerts.hold=0")
    let added = try await fleet.check(
      "fleet", "homes", "add", "--file", "-", input: .text("1/brown alerts.hold=5\n\n2/smith\n"))
    #expect(added == "Homes: 1 added, 0 changed, 1 unchanged.\n")
    #expect(
      try await fleet.check("fleet", "homes").split(separator: "\n").dropFirst().map {
        $0.split(separator: " ").joined(separator: " ")
      } == ["1/brown alerts.hold=5", "2/jones alerts.hold=0", "2/smith alerts.hold=0"])
    let nobody = try await fleet.run("routers", "--home", "2/smith")
    #expect(nobody.status == 69)
    #expect(nobody.error.contains("no node has the shard 2"))

    let node = try fleet.launch("one")
    func served() async throws {
      try await eventually("three shards that are served") {
        for shard in 1...3 { guard await fleet.serves(node, shard) else { return false } }
        return true
      }
    }
    try await served()
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    try await fleet.announce("2/smith", Self.first, name: "there", dataset: dataset)
    try await fleet.announce("2/jones", Self.second, name: "there", dataset: dataset)
    func checkSmith(_ home: String) async throws {
      let routers = try await fleet.check("routers", "--home=\(home)")
      #expect(routers.contains(Self.first))
      #expect(!routers.contains(Self.second), "rows of another home")
      let credentials = try await fleet.check("credentials", "get", Self.first, "--home", home, "--show-secrets")
      #expect(credentials.contains(dataset))
    }
    try await checkSmith("2/smith")
    for arguments in [["preferred", "show", "--home", "2/brown"], ["run", "--home", "2/smith"]] {
      #expect(try await fleet.run(arguments).status == 64, "\(arguments)")
    }
    let table = try await fleet.check("fleet", "status")
    #expect(table.contains("serving") && table.contains("one"))
    let doctor = try await fleet.run("fleet", "doctor").output
    for words in [
      "opens shard 1", "All 3 shards are served", "The anchors of shards can be published", "keeps a session",
      "as a superuser may",
    ] { #expect(doctor.contains(words), "\(doctor)") }

    try await fleet.check("fleet", "homes", "move", "2/smith", "3")
    try await served()
    try await checkSmith("3/smith")
    // The same dataset, by the keys of another shard: nothing is new.
    try await fleet.announce("3/smith", Self.first, name: "here", dataset: dataset)
    #expect(try await fleet.check("routers", "--home", "3/smith").contains("match"))
    #expect(!(try await fleet.check("alerts", "--home", "3/smith").contains(Self.first)))
    #expect(try await fleet.run("routers", "--home", "2/smith").status == 64)
    #expect(try await fleet.check("fleet", "homes", "move", "2/smith", "3").contains("3/smith"), "again")
    try await served()
    #expect(try await fleet.check("routers", "--home", "2/jones").contains(Self.second))
    #expect(try await fleet.check("audit", "--home", "3/smith").contains("home 3/smith, before 2/smith"))

    try await fleet.check("fleet", "drain", "one")
    let status = try FleetStatus(FleetDatabase(fleet.settings()))
    #expect(status.nodes.first?.shards == 0 && status.unclaimed == [1, 2, 3])
    #expect(try await fleet.run("fleet", "doctor").status != 0)
    try await fleet.check("fleet", "drain", "one", "--undo")
    try await served()
    #expect(try await node.stop() == .exit(0), "\(node.log)")
    let dump = try fleet.server.dump(database: fleet.database)
    #expect(!dump.contains(dataset) && !dump.contains(Self.first))
  }

  @Test("What an administrator is given makes all that the roles need") func administrator() async throws {
    let (user, _) = try PostgresServer.roles.get()
    let fleet = try TestFleet(shards: 0)
    let settings = try fleet.settingsFile("one", user: user)
    let refused = try await fleet.run("fleet", "init", settings: settings)
    #expect(refused.status == 77 && refused.error.contains("--print-sql"), "\(refused.error)")
    let sql = try await ThreadkeeperBinary.run("fleet", "init", "--print-sql")
    #expect(sql.status == 0, "\(sql.error)")
    try fleet.sql(sql.output)
    try await fleet.check("fleet", "init", "--name", "north", "--shards", "1", settings: settings)
    #expect(try await fleet.check("fleet", "status", settings: settings).contains("Fleet north"))
    try await fleet.check("fleet", "homes", "add", "1/smith", settings: settings)
    let node = try fleet.launch("one", user: user)
    try await eventually("a shard that is served") { await fleet.serves(node, 1) }
    let doctor = try await fleet.run("fleet", "doctor", settings: settings).output
    for words in ["can do what a node does", "can do no more"] { #expect(doctor.contains(words), "\(doctor)") }
    try await fleet.announce("1/smith")
    #expect(try await node.stop() == .exit(0))
  }

  @Test("Wrong use and missing parts have their words and numbers") func failures() async throws {
    let fleet = try TestFleet(shards: 0)
    #expect(try await fleet.run("fleet", "status").status == 78)
    try await fleet.check("fleet", "init", "--shards", "1")
    for (arguments, words) in [
      (["fleet", "homes", "add", "nonsense"], ""), (["fleet", "homes", "add"], ""),
      (["fleet", "init", "--shards", "0"], ""), (["routers", "--home", "x/y"], ""), (["routers"], "--home SHARD/NAME"),
      (["store", "restore", "/dev/null"], ""), (["fleet", "homes", "add", "9/smith"], "no shard 9"),
      (["fleet", "homes", "add", "1/smith", "--set", "mqtt.port=1"], ""), (["fleet", "drain", "nobody"], ""),
      // No terminal, no --yes.
      (["fleet", "accept", "1"], ""),
    ] {
      let outcome = try await fleet.run(arguments)
      #expect(outcome.status == 64, "\(arguments): \(outcome.error)")
      #expect(words.isEmpty || outcome.error.contains(words), "\(arguments): \(outcome.error)")
    }
    #expect(try await fleet.check("fleet", "accept", "1", "--yes").contains("not rolled back"))
    // `doctor` ends like its first problem: this one shall be the only one.
    try fleet.sql("UPDATE threadkeeper.fleet SET version = 99, oldest = 99")
    for command in ["status", "doctor"] {
      let outcome = try await fleet.run("fleet", command)
      #expect(outcome.status == 78)
      #expect((outcome.output + outcome.error).lowercased().contains("use a newer program"))
    }
    let home = try await ThreadkeeperBinary.run("fleet", "status", "--state-directory", fleet.directory.file("home"))
    #expect(home.status == 78)
    #expect(home.error.contains("`store.url` is not set"))
  }

  @Test("A home of another host is asked by ssh, with the same arguments") func elsewhere() async throws {
    let fleet = try TestFleet(shards: 1)
    try fleet.sql(
      """
      UPDATE threadkeeper.lease SET node = 'far', address = 'far.test:/s/shards/1/varlink.sock',
        until = now() + interval '1 hour'
      """)
    let ssh = fleet.directory.file("ssh")
    try "#!/bin/sh\necho \"$#\"; printf '<%s>' \"$@\"; cat; exit 5\n".write(
      toFile: ssh, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: ssh)
    let path = ["PATH": "\(fleet.directory.path):/usr/bin:/bin"]
    let outcome = try await fleet.run("clients", "revoke", "it's", "--home", "1/home-1", environment: path)
    #expect(outcome.status == 5, "\(outcome.error)")
    #expect(
      outcome.output == "2\n<far.test><THREADKEEPER_FLEET_ADDRESS=far.test threadkeeper clients revoke "
        + "'it'\\''s' --home 1/home-1 --config \(try fleet.settingsFile())>")
    for command in ["check", "set"] {
      let piped = try await fleet.run(
        "preferred", command, "-", "--home", "1/home-1", environment: path, input: .text("0e08"))
      #expect(piped.output.hasSuffix(">0e08"), "what is piped in arrives there")
    }
  }

  @Test("A move that is stopped while it waits gives back what it has", arguments: [SIGINT, SIGTERM]) func stoppedMove(
    _ signal: Int32
  ) async throws {
    let fleet = try TestFleet(shards: 2, home: "1/smith")
    try fleet.sql("UPDATE threadkeeper.lease SET until = now() + interval '1 hour' WHERE shard = 2")
    let move = try ChildProcess(
      ThreadkeeperBinary.executable.path, ["fleet", "homes", "move", "1/smith", "2", "--config", fleet.settingsFile()],
      environment: ["PATH": "/usr/bin:/bin"])
    func held() throws -> [String] {
      try fleet.sql(
        """
        SELECT shard FROM threadkeeper.lease WHERE shard = 1 AND until > now()
        UNION ALL SELECT shard FROM threadkeeper.lease WHERE held_back_until > now() ORDER BY 1
        """)
    }
    try await eventually("it has one and waits for the other") { try held() == ["1", "1", "2"] }
    move.signal(signal)
    #expect(move.wait(within: 10) == .exit(128 + signal))
    #expect(try held().isEmpty)
  }

  @Test("A move that is interrupted is finished by the same command") func interruptedMove() async throws {
    let fleet = try TestFleet(shards: 2, home: "1/smith")
    try await fleet.serving { _ in try await fleet.announce("1/smith") }
    func records(_ shard: Int) throws -> [String] {
      try fleet.sql("SELECT count(*) FROM threadkeeper.record WHERE shard = \(shard) AND home <> 0")
    }
    let before = try records(1)
    try fleet.sql(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON threadkeeper.home FOR EACH ROW
        EXECUTE FUNCTION refuse();
      CREATE TRIGGER refuse BEFORE DELETE ON threadkeeper.record FOR EACH ROW
        WHEN (OLD.shard = 1) EXECUTE FUNCTION refuse()
      """)
    for table in ["home", "record"] {
      #expect(try await fleet.run("fleet", "homes", "move", "1/smith", "2").status != 0)
      #expect(try records(1) == before)
      #expect(try records(2) == before)
      try fleet.sql("DROP TRIGGER refuse ON threadkeeper.\(table)")
    }
    try await fleet.check("fleet", "homes", "move", "1/smith", "2")
    #expect(try records(1) == ["1"], "its note")
    #expect(try records(2) == before)
    #expect(try fleet.routers("2/smith") == 1)
    try await fleet.serving { _ in
      let routers = try await fleet.check("routers", "--home", "2/smith")
      #expect(routers.contains(Self.first))
    }
  }

  @Test("Two moves of one home at once, also back, lose nothing of it") func movesAtOnce() async throws {
    let fleet = try TestFleet(shards: 3, home: "2/smith")
    try await fleet.serving { node in
      for id in [Self.first, Self.second] { try await fleet.announce("2/smith", id) }
      async let first = fleet.run("fleet", "homes", "move", "2/smith", "3")
      async let second = fleet.run("fleet", "homes", "move", "2/smith", "3")
      let ends = try await [first, second]
      #expect(ends.allSatisfy { $0.status == 0 }, "\(ends.map(\.error))")
      try await fleet.served(by: [node])
      #expect(try fleet.routers("3/smith") == 2)
      async let back = fleet.run("fleet", "homes", "move", "3/smith", "1")
      async let elsewhere = fleet.run("fleet", "homes", "move", "3/smith", "2")
      #expect(try await [back, elsewhere].map(\.status).sorted() == [0, 64])
      try await fleet.served(by: [node])
      let homes = try await fleet.check("fleet", "homes")
      #expect(try fleet.routers(homes.contains("1/smith") ? "1/smith" : "2/smith") == 2)
    }
  }

  @Test("What another home of the same name does not have is not deleted") func sameName() async throws {
    let fleet = try TestFleet(shards: 2, home: "1/smith")
    try await fleet.serving { node in
      try await fleet.announce("1/smith")
      try fleet.sql(
        """
        UPDATE threadkeeper.home SET shard = 2;
        UPDATE threadkeeper.shard SET homes_version = homes_version + 1
        """)
      let move = try await fleet.run("fleet", "homes", "move", "1/smith", "2")
      #expect(move.status == 64 && move.error.contains("another home"), "\(move.error)")
      try fleet.add([HomeAddress("1/smith")])
      try await fleet.served(by: [node])
      try await eventually("its router") {
        try await fleet.run("routers", "--home", "1/smith").output.contains(Self.first)
      }
    }
  }
}
#endif
