#if Fleet
import Foundation
import Home
import TestKit
import Testing

@testable import Fleet
@testable import Threadkeeper

@Suite(.enabled(if: PostgresServer.isAvailable)) struct FleetNodeTests {
  @Test("Nodes share shards up to their limits, and one that ends releases all within 2 s, for another") func share()
    async throws
  {
    var plan = TestFleet.Plan()
    (plan.shards, plan.homes, plan.shardsAtMost) = (6, 1, 4)
    let fleet = try TestFleet(plan)
    // Both start at once.
    let (a, b) = (try fleet.start("a"), try fleet.start("b"))
    try await eventually { (a.serving + b.serving).sorted() == Array(1...6) }
    #expect(a.serving.count <= 4 && b.serving.count <= 4)
    #expect(try fleet.shards(of: "a") == a.serving && fleet.shards(of: "b") == b.serving)
    #expect(try fleet.epochs() == [1, 1, 1, 1, 1, 1])
    let shard = try #require(b.serving.first)
    #expect(
      try fleet.sql("SELECT address FROM threadkeeper.lease WHERE shard = \(shard)") == [
        "localhost:\(b.node.directory)/\(shard)/varlink.sock"
      ])
    let others = a.serving
    b.node.leave()
    try await b.end(within: .seconds(2))
    #expect(try fleet.shards(of: "b").isEmpty)
    try await eventually { a.serving.count == 4 }
    #expect(Set(others).isSubset(of: a.serving))
    var settings = try fleet.settings("c")
    settings.fleet.shardsAtMost = 64
    let c = try NodeRun(settings)
    try await a.leave()
    try await c.serves(Array(1...6))
    try await c.leave()
    #expect(Set(try fleet.states()) == ["free"])
  }

  @Test("A lease is renewed with what its shard is counted as, and health is published of a shard") func renew()
    async throws
  {
    let fleet = try TestFleet(shards: 1, homes: 2)
    let subscriber = try await TestSubscriber.start(fleet.broker, "fleet/#")
    let node = try fleet.start("a")
    try await node.serves([1])
    try await fleet.announce("1/home-2")
    let lease = "SELECT extract(epoch FROM until) FROM threadkeeper.lease"
    let first = try #require(Double(try fleet.sql(lease)[0]))
    try await eventually { try #require(Double(try fleet.sql(lease)[0])) > first + 1 }
    try await eventually {
      try fleet.sql("SELECT homes, routers, waiting, state FROM threadkeeper.lease") == ["2|1|0|serving"]
    }
    #expect(try fleet.sql("SELECT count(*) FROM threadkeeper.lease WHERE commit_ms > 0") == ["1"])
    // Not of each home.
    let topics = Set(["1/home-1/bridge/info", "1/home-2/bridge/info", "1/bridge/health"])
    let found = try await subscriber.wait { messages in
      Set(messages.map(\.topic)).isSuperset(of: topics.map { "fleet/\($0)" })
    }
    #expect(Set(found.map(\.topic)).filter { $0.hasSuffix("/bridge/health") } == ["fleet/1/bridge/health"])
    try await node.leave()
  }

  @Test("Homes that are added to a shard are served, with one claim") func homes() async throws {
    let fleet = try TestFleet(shards: 2)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    try await fleet.announce("1/home-1")
    try fleet.add([HomeAddress(shard: 1, name: "new")])
    try await eventually { node.node.runs.first?.bridge.homes.map(\.name) == ["home-1", "new"] }
    try await node.serves([1, 2])
    try await fleet.announce("1/new")
    #expect(node.routers("home-1", in: 1) == 1)
    #expect(try fleet.epochs() == [1, 1])
    try await node.leave()
  }

  @Test("A short absence of the database ends nothing; one that outlasts leases ends all, for a while") func database()
    async throws
  {
    let server = try PostgresServer()
    let fleet = try TestFleet(shards: 2, server: server)
    var times = LeaseTimes.short
    times.limit = .seconds(6)
    let node = try fleet.start("a", times: times)
    try await node.serves([1, 2])
    server.kill()
    try server.start()
    try await fleet.announce("1/home-1")
    try await fleet.announce("2/home-1")
    #expect(node.serving == [1, 2])
    #expect(try fleet.epochs() == [1, 1])
    server.pause()
    try await eventually(within: .seconds(9)) { node.node.runs.isEmpty }
    server.resume()
    try await node.serves([1, 2])
    #expect(try fleet.epochs() == [2, 2])
    #expect(node.log.lines.contains("has lost a shard shard=2"))
    try await fleet.announce("2/home-1", name: "Hall")
    // It ends in time also while the database does not answer.
    server.pause()
    node.node.leave()
    try await node.end(within: .seconds(2))
    server.resume()
  }

  @Test("A node that was killed claims its shards at once when it starts again, one process at a time") func sameName()
    async throws
  {
    let fleet = try TestFleet(shards: 4)
    try fleet.sql(
      """
      UPDATE threadkeeper.lease SET node = CASE shard WHEN 4 THEN 'b' ELSE 'a' END,
        process = gen_random_uuid(), until = now() + interval '1 h'
      """)
    let node = try fleet.start("a")
    try await node.serves([1, 2, 3])
    let error = #expect(throws: CommandFailure.self) { try fleet.start("a") }
    #expect(error?.message.contains("node a") == true)
    try await node.leave()
  }

  @Test("Of two processes with the name of one node, the older one ends with 78") func twoWithOneName() async throws {
    let fleet = try TestFleet(shards: 2)
    let older = try fleet.start("a")
    try await older.serves([1, 2])
    // On another machine, so to say: it does not see the first one's lock.
    let newer = try NodeRun(fleet.settings("a", place: "elsewhere"))
    let error = await #expect(throws: CommandFailure.self) { try await older.end() }
    #expect(error?.status == .configuration)
    #expect(error?.message.contains("node a") == true)
    try await newer.serves([1, 2])
    #expect(try fleet.epochs() == [2, 2])
    try await newer.leave()
  }

  @Test("A database that was rolled back is not served, until that is accepted") func rolledBack() async throws {
    let fleet = try TestFleet(shards: 2)
    try await fleet.serving { _ in try await fleet.announce("1/home-1") }
    let saved = try SavedShards(fleet.server, fleet.database)
    try await fleet.serving { _ in try await fleet.announce("1/home-1", "a1b2c3d4e5f60719") }
    try saved.restore()
    let node = try fleet.start("a")
    try await node.serves([2])
    try await eventually { try fleet.states()[0] == "rolled_back" }
    #expect(node.log.lines.contains { $0.contains("shard=1") && $0.contains("threadkeeper fleet accept 1") })
    #expect(node.serving == [2])
    #expect(try await fleet.check("fleet", "status").contains("fleet accept"))
    #expect(try await fleet.check("fleet", "accept", "1", "--yes").contains("is accepted"))
    try await node.serves([1, 2])
    #expect(node.routers("home-1", in: 1) == 1)
    // A shard is served some milliseconds before its socket is there.
    try await eventually("the audit of the shard") {
      try await fleet.run("audit", "--home", "1/home-1").output.contains("rollback")
    }
    try await node.leave()
  }

  @Test("Nothing is claimed while the broker is away, and a foreign anchor stops nothing") func broker() async throws {
    let fleet = try TestFleet(shards: 1)
    let publisher = try await TestPublisher.start(fleet.broker)
    let hash = String(repeating: "ab", count: 32)
    try await publisher.publish(
      Anchor.topic(of: 1, below: TestFleet.base), #"{"shard":1,"generation":900,"hash":"\#(hash)"}"#, retain: true)
    try await publisher.stop()
    fleet.broker.stop()
    let node = try fleet.start("a")
    try await eventually { node.log.lines.contains { $0.hasPrefix("no shard is claimed while the broker is away") } }
    #expect(try fleet.epochs() == [0])
    try fleet.broker.start()
    try await node.serves([1])
    try await eventually("the anchor to be reported") {
      node.log.lines.contains { $0.hasPrefix("the anchor at fleet/fleet/anchor/1 was altered") }
        && node.node.runs.first?.bridge.loop.homes.home("home-1")?.alerts[AlertKey(.anchorAltered)] != nil
    }
    try await node.leave()
  }

  @Test("A key command that does not work is named, and other shards are served") func wrongKey() async throws {
    let fleet = try TestFleet(shards: 3)
    var settings = try fleet.settings("a")
    settings.fleet.unsealCommand = ["sh", "-c", #"[ "$THREADKEEPER_SHARD" = 2 ] && exit 3; exec base64 -d"#]
    let node = try NodeRun(settings)
    try await node.serves([1, 3])
    try await eventually { try fleet.leases()[1].state == "no_key" }
    #expect(try fleet.leases()[1].node.isEmpty)
    #expect(
      node.log.lines.contains {
        $0.hasPrefix("a shard cannot be served") && $0.contains("fleet.unseal_command") && $0.contains("shard=2")
      })
    // Another node that can open it takes it.
    let other = try fleet.start("b")
    try await other.serves([2])
    try await other.leave()
    try await node.leave()
  }

  @Test("A node that cannot find a fleet in its database says so and ends") func noFleet() async throws {
    let node = try TestFleet(shards: 0).start("a")
    let error = await #expect(throws: CommandFailure.self) { try await node.end() }
    #expect(error?.status == .configuration)
    #expect(error?.remedy?.contains("fleet init") == true)
  }
}
#endif
