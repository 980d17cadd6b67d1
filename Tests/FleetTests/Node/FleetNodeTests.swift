// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Foundation
import Settings
import TestKit
import Testing
import ThreadkeeperDaemon

@testable import Fleet

@Suite(.enabled(if: PostgresServer.isAvailable))
struct FleetNodeTests {
  @Test("A node claims shards up to its limit, another one the rest, and no shard is with both")
  func share() async throws {
    let fleet = try NodeFleet(shards: 6)
    var settings = fleet.settings("a")
    settings.fleet.shardsAtMost = 4
    let a = try fleet.start(settings)
    try await a.serves([1, 2, 3, 4])
    let b = try fleet.start("b")
    try await b.serves([5, 6])
    #expect(a.serving == [1, 2, 3, 4])
    #expect(try fleet.holders() == [1: "a", 2: "a", 3: "a", 4: "a", 5: "b", 6: "b"])
    #expect(try fleet.epochs() == [1, 1, 1, 1, 1, 1])
    #expect(
      try fleet.sql("SELECT address FROM threadkeeper.lease WHERE shard = 5")
        == ["localhost:\(fleet.directory.file("b"))/store/shards/5/varlink.sock"])
    try await a.leave()
    try await b.serves([1, 2, 3, 4, 5, 6])
    try await b.leave()
  }

  @Test("Two nodes that start at once share all shards")
  func race() async throws {
    let fleet = try NodeFleet(shards: 8)
    let nodes = try ["a", "b"].map { try fleet.start($0) }
    try await eventually { (nodes[0].serving + nodes[1].serving).sorted() == Array(1...8) }
    #expect(try fleet.epochs() == [Int](repeating: 1, count: 8))
    for node in nodes { try await node.leave() }
  }

  @Test("A lease is renewed, with what its shard is counted as, and messages are taken")
  func renew() async throws {
    let fleet = try NodeFleet(shards: 1, homes: 2)
    let node = try fleet.start("a")
    try await node.serves([1])
    try await fleet.announce("Kitchen", of: "home-2", in: 1)
    let lease = "SELECT extract(epoch FROM until) FROM threadkeeper.lease"
    let first = try #require(Double(try fleet.sql(lease)[0]))
    try await eventually { try #require(Double(try fleet.sql(lease)[0])) > first + 11 }
    #expect(node.serving == [1])
    try await eventually {
      try fleet.sql("SELECT homes, routers, waiting, state FROM threadkeeper.lease")
        == ["2|1|0|serving"]
    }
    #expect(try fleet.sql("SELECT count(*) FROM threadkeeper.lease WHERE commit_ms > 0") == ["1"])
    try await node.leave()
  }

  @Test("Health is published of a shard, and not of each of its homes")
  func health() async throws {
    let fleet = try NodeFleet(shards: 1, homes: 3)
    let subscriber = try await TestSubscriber.start(fleet.broker, "\(NodeFleet.prefix)/#")
    let node = try fleet.start("a")
    try await node.serves([1])
    let homes = (1...3).map { "\(NodeFleet.prefix)/1/home-\($0)" }
    try await subscriber.wait { messages in
      let topics = Set(messages.map(\.topic))
      return topics.isSuperset(of: homes.map { "\($0)/bridge/info" })
        && topics.contains("\(NodeFleet.prefix)/1/bridge/health")
    }
    let health = Set(subscriber.messages.map(\.topic)).filter { $0.hasSuffix("/bridge/health") }
    #expect(health == ["\(NodeFleet.prefix)/1/bridge/health"])
    try await node.leave()
  }

  @Test("A node whose database is away for longer than 8 s stops, and claims its shards again")
  func database() async throws {
    let server = try PostgresServer()
    let fleet = try NodeFleet(shards: 2, server: server)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    server.pause()
    try await eventually(within: .seconds(11)) { node.node.runs.isEmpty }
    server.resume()
    try await node.serves([1, 2])
    #expect(try fleet.epochs() == [2, 2])
    #expect(node.log.lines.contains("has lost a shard shard=2"))
    try await fleet.announce("Hall", of: "home-1", in: 2)
    try await node.leave()
  }

  @Test("A short absence of the database ends nothing")
  func shortAbsence() async throws {
    let server = try PostgresServer()
    let fleet = try NodeFleet(shards: 2, server: server)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    server.kill()
    try server.start()
    try await fleet.announce("Hall", of: "home-1", in: 1)
    try await fleet.announce("Hall", of: "home-1", in: 2)
    #expect(node.serving == [1, 2])
    #expect(try fleet.epochs() == [1, 1])
    try await node.leave()
  }

  @Test("A node that was killed claims its shards at once when it starts again")
  func sameName() async throws {
    let fleet = try NodeFleet(shards: 4)
    try fleet.sql(
      """
      UPDATE threadkeeper.lease SET node = 'a', process = gen_random_uuid(),
        until = now() + interval '1 h' WHERE shard < 4;
      UPDATE threadkeeper.lease SET node = 'b', process = gen_random_uuid(),
        until = now() + interval '1 h' WHERE shard = 4;
      """)
    let node = try fleet.start("a")
    try await node.serves([1, 2, 3])
    try await node.leave()
  }

  @Test("Of two processes with the name of one node, the older one ends with 78")
  func twoWithOneName() async throws {
    let fleet = try NodeFleet(shards: 2)
    let older = try fleet.start(fleet.settings("a", place: "one"))
    try await older.serves([1, 2])
    let newer = try fleet.start(fleet.settings("a", place: "two"))
    let error = await #expect(throws: CommandFailure.self) { try await older.end() }
    #expect(error?.status == .configuration)
    #expect(error?.message.contains("node a") == true)
    try await newer.serves([1, 2])
    #expect(try fleet.epochs() == [2, 2])
    try await newer.leave()
  }

  @Test("A second process with the state of a node that runs does not start")
  func lock() async throws {
    let fleet = try NodeFleet(shards: 1)
    let node = try fleet.start("a")
    let error = #expect(throws: CommandFailure.self) { try fleet.start("a") }
    #expect(error?.message.contains("node a") == true)
    try await node.leave()
  }

  @Test(
    "A node that is drained releases its shards, another one takes them, and it ends when it is asked to"
  )
  func drain() async throws {
    let fleet = try NodeFleet(shards: 3)
    let a = try fleet.start("a")
    try await a.serves([1, 2, 3])
    let b = try fleet.start("b")
    try await eventually { try fleet.sql("SELECT count(*) FROM threadkeeper.node") == ["2"] }
    try fleet.sql("UPDATE threadkeeper.node SET draining = true WHERE name = 'a'")
    try await b.serves([1, 2, 3], within: .seconds(10))
    #expect(a.serving == [])
    try await b.leave()
    #expect(try fleet.holders() == [:])
    try fleet.sql("UPDATE threadkeeper.node SET draining = false WHERE name = 'a'")
    try await a.serves([1, 2, 3])
    try await a.leave()
  }

  @Test("A node that ends releases all of its leases within 2 s")
  func end() async throws {
    let fleet = try NodeFleet(shards: 5)
    let node = try fleet.start("a")
    try await node.serves([1, 2, 3, 4, 5])
    node.node.leave()
    try await node.end(within: .seconds(2))
    #expect(try fleet.holders() == [:])
    #expect(try fleet.sql("SELECT DISTINCT state FROM threadkeeper.lease") == ["free"])
  }

  @Test("A node ends within 2 s while its database does not answer")
  func endWithoutDatabase() async throws {
    let server = try PostgresServer()
    let fleet = try NodeFleet(shards: 2, server: server)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    server.pause()
    node.node.leave()
    try await node.end(within: .seconds(2))
    server.resume()
  }

  @Test("Homes that are added to a shard are served within seconds, with one claim")
  func homes() async throws {
    let fleet = try NodeFleet(shards: 2)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    try await fleet.announce("Kitchen", of: "home-1", in: 1)
    try fleet.add(["new"], to: 1)
    try await eventually(within: .seconds(8)) {
      node.node.runs.first?.bridge.homes.map(\.name) == ["home-1", "new"]
    }
    try await node.serves([1, 2])
    try await fleet.announce("Hall", of: "new", in: 1)
    #expect(node.node.runs.first?.bridge.loop.home("home-1")?.routers.count == 1)
    #expect(try fleet.epochs() == [1, 1])
    try await node.leave()
  }

  @Test("A shard without homes is served, and one that is held back is not")
  func heldBack() async throws {
    let fleet = try NodeFleet(shards: 2, homes: 0)
    let node = try fleet.start("a")
    try await node.serves([1, 2])
    try fleet.sql(
      "UPDATE threadkeeper.lease SET held_back_until = now() + interval '1 h' WHERE shard = 2")
    try await node.serves([1])
    try await eventually { try fleet.holders() == [1: "a"] }
    try fleet.sql("UPDATE threadkeeper.lease SET held_back_until = '-infinity'")
    try await node.serves([1, 2])
    try await node.leave()
  }

  @Test("A database that was rolled back is not served, until that is accepted")
  func rolledBack() async throws {
    let fleet = try NodeFleet(shards: 2)
    var node = try fleet.start("a")
    try await node.serves([1, 2])
    try await node.leave()
    let tables = ["shard", "record", "outbox", "audit"]
    for table in tables {
      try fleet.sql("CREATE TABLE old_\(table) AS TABLE threadkeeper.\(table)")
    }
    node = try fleet.start("a")
    try await node.serves([1, 2])
    try await fleet.announce("Kitchen", of: "home-1", in: 1)
    try await node.leave()
    for table in tables.dropFirst() {
      try fleet.sql(
        """
        DELETE FROM threadkeeper.\(table) WHERE shard = 1;
        INSERT INTO threadkeeper.\(table) SELECT * FROM old_\(table) WHERE shard = 1;
        """)
    }
    try fleet.sql(
      """
      UPDATE threadkeeper.shard s SET (epoch, generation, manifest) = (o.epoch, o.generation, o.manifest)
      FROM old_shard o WHERE s.id = o.id AND s.id = 1
      """)
    node = try fleet.start("a")
    try await node.serves([2])
    try await eventually {
      try fleet.sql("SELECT state FROM threadkeeper.lease WHERE shard = 1") == ["rolled_back"]
    }
    #expect(
      node.log.lines.contains {
        $0.contains("shard=1") && $0.contains("threadkeeper fleet accept 1")
      })
    #expect(node.serving == [2])
    let publisher = try await TestPublisher.start(fleet.broker)
    try await publisher.publish([Anchor.removal(of: 1, below: NodeFleet.prefix)])
    try fleet.sql("UPDATE threadkeeper.lease SET state = 'free' WHERE shard = 1")
    try await node.serves([1, 2])
    try await publisher.stop()
    try await node.leave()
  }

  @Test("An anchor that nobody with the key has made stops nothing")
  func foreignAnchor() async throws {
    let fleet = try NodeFleet(shards: 1)
    let publisher = try await TestPublisher.start(fleet.broker)
    let hash = String(repeating: "ab", count: 32)
    try await publisher.publish(
      Anchor.topic(of: 1, below: NodeFleet.prefix),
      #"{"shard":1,"generation":900,"hash":"\#(hash)"}"#, retain: true)
    let node = try fleet.start("a")
    try await node.serves([1])
    #expect(node.log.lines.contains { $0.hasPrefix("the anchor at the broker is not of this") })
    try await publisher.stop()
    try await node.leave()
  }

  @Test("A key command that does not work is named, and other shards are served")
  func wrongKey() async throws {
    let fleet = try NodeFleet(shards: 3)
    var settings = fleet.settings("a")
    settings.fleet.unsealCommand = [
      "sh", "-c", #"[ "$THREADKEEPER_SHARD" = 2 ] && exit 3; exec base64 -d"#,
    ]
    let node = try fleet.start(settings)
    try await node.serves([1, 3])
    try await eventually {
      try fleet.sql("SELECT state, node IS NULL FROM threadkeeper.lease WHERE shard = 2")
        == ["no_key|t"]
    }
    #expect(
      node.log.lines.contains {
        $0.hasPrefix("a shard cannot be served") && $0.contains("fleet.unseal_command")
          && $0.contains("shard=2")
      })
    // Another node that can open it takes it.
    let other = try fleet.start("b")
    try await other.serves([2])
    try await other.leave()
    try await node.leave()
  }

  @Test("A node that cannot find a fleet in its database says so and ends")
  func noFleet() async throws {
    let fleet = try NodeFleet(shards: 1)
    var settings = fleet.settings("a")
    settings.store.url = SecretText(fleet.server.url(database: try fleet.server.makeDatabase()))
    let node = try fleet.start(settings)
    let error = await #expect(throws: CommandFailure.self) { try await node.end() }
    #expect(error?.status == .configuration)
    #expect(error?.remedy?.contains("fleet init") == true)
  }

  @Test("Nothing is claimed while the broker is away")
  func broker() async throws {
    let fleet = try NodeFleet(shards: 1)
    fleet.broker.stop()
    let node = try fleet.start("a")
    try await eventually {
      node.log.lines.contains { $0.hasPrefix("no shard is claimed while the broker is away") }
    }
    #expect(try fleet.epochs() == [0])
    try fleet.broker.start()
    try await node.serves([1])
    try await node.leave()
  }
}
#endif
