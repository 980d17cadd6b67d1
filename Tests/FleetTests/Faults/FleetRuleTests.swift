// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Broker
import Foundation
import TestKit
import Testing

extension ServerFaults {
  @Test(
    "Of nodes that want one shard one gets it, and each change of hands is one claim",
    .enabled(if: FleetFault.contest.isWanted))
  func faultContest() async throws {
    let fault = FleetFault.contest
    try await fault.measure(limit: 5) { ledger in
      var plan = FleetScene.Plan()
      plan.shards = 1
      let scene = try await FleetScene.make(plan)
      var nodes: [String: NodeProcess] = [:]
      for name in ["node-a", "node-b", "node-c"] { nodes[name] = try scene.launch(name) }
      func owner() throws -> NodeProcess? {
        try scene.leases().first { $0.holds }.flatMap { nodes[$0.node] }
      }
      try await eventually("a claim") { try owner() != nil }
      try await eventually("a node that serves it") {
        guard let node = try owner() else { return false }
        return await scene.serves(node, 1)
      }
      let run = try await FleetRun.start(scene)
      let rounds = fault.rounds(short: 2, long: 40)
      for _ in 1...rounds {
        let holder = try #require(try owner(), "nobody has it")
        var servers = 0
        for node in nodes.values where await scene.serves(node, 1) { servers += 1 }
        try Soak.check(servers == 1, "\(servers) nodes serve the shard")
        for node in nodes.values { try await scene.ready(node) }
        let now = ContinuousClock.now
        holder.signal(SIGTERM)
        try await holder.end()
        try await run.progress(since: now, ledger, nodes: Array(nodes.values))
        nodes[holder.name] = try scene.launch(holder.name)
        ledger.round()
      }
      let epochs = try scene.leases().map(\.epoch)
      try Soak.check(epochs == [rounds + 1], "epochs \(epochs) after \(rounds) changes")
      try await run.check(ledger, nodes: Array(nodes.values))
    }
  }

  @Test(
    "Of two processes with the name of one node the older one ends, with 78",
    .enabled(if: FleetFault.contest.isWanted))
  func twoOfOneName() async throws {
    let scene = try await FleetScene.make()
    let first = try scene.launch("node-a")
    try await scene.served(by: first)
    // On another machine, so to say: it does not see the first one's lock.
    let second = try scene.launch("node-a", place: "elsewhere")
    #expect(try await first.end() == .exit(78))
    #expect(first.log.contains("node-a"), "\(first.log.suffix(2000))")
    try await scene.waitUntil(second, holds: scene.plan.shards)
  }

  @Test(
    "No home sees another's routers or credentials, and topics of no home change nothing",
    .enabled(if: FleetFault.isolation.isWanted))
  func faultIsolation() async throws {
    try await FleetFault.isolation.measure { ledger in
      let scene = try await FleetScene.make()
      let node = try scene.launch("node-a")
      try await scene.served(by: node)
      let run = try await FleetRun.start(scene)
      // Shards and homes that are not there, homes of other shards, and names that mean something in a filter.
      let publisher = try await TestPublisher.start(scene.broker)
      let dataset = try SampleNetwork.guest.dataset(at: 9).hex
      let payload = Array(#"{"border_agent_id":"ffffffffffffffff","dataset":"\#(dataset)"}"#.utf8)
      let foreign = ["1/home-9", "9/home-1", "1/1/home-1", "home-1", "01/home-1", "1/Home-1"]
      try await publisher.publish(
        foreign.map {
          Publication(topic: "\(FleetScene.base)/\($0)/in/routers/announce", payload: payload)
        })
      try await run.progress(nodes: [node])
      // What is asked of one home is answered from it alone: all have routers with the same ids.
      for home in scene.homes {
        let index = try #require(scene.homes.firstIndex(of: home))
        let output = try await scene.check(
          ["credentials", "list", "--home", "\(home)", "--json"], of: node.name)
        let networks = Set(
          scene.homes.indices.filter {
            output.contains(FleetLoad.network($0).extendedPANID)
          })
        try Soak.check(networks == [index], "\(home) shows networks of homes \(networks)")
        ledger.round()
      }
      try await run.check(ledger, nodes: [node])
      // The database has names of homes, and no key of a network.
      let dump = try scene.server.dump(database: scene.database)
      try Soak.check(dump.contains("home-1"), "the dump has no homes")
      for index in scene.homes.indices {
        let key = FleetLoad.network(index).networkKey
        try Soak.check(!dump.contains(key), "a network key of \(scene.homes[index]) is readable")
      }
    }
  }

  @Test(
    "A newer database is served as long as it says that this program may",
    .enabled(if: FleetFault.versions.isWanted))
  func faultVersions() async throws {
    try await FleetFault.versions.measure { ledger in
      let scene = try await FleetScene.make()
      let old = try scene.launch("node-a")
      try await scene.served(by: old)
      let run = try await FleetRun.start(scene)
      // A newer program has upgraded it.
      try scene.sql("UPDATE threadkeeper.fleet SET version = 2, oldest = 1")
      let other = try scene.launch("node-b")
      try await scene.ready(other)
      let now = ContinuousClock.now
      old.signal(SIGTERM)
      try await old.end()
      try await run.progress(since: now, ledger, nodes: [other])
      ledger.round()
      // And now it does what this program does not know.
      try scene.sql("UPDATE threadkeeper.fleet SET version = 2, oldest = 2")
      let late = try scene.launch("node-c")
      let end = try await late.end()
      try Soak.check(end == .exit(78), "it ended with \(end): \(late.log)")
      try Soak.check(late.log.contains("2"), "it does not name the version: \(late.log)")
      ledger.round()
      try scene.sql("UPDATE threadkeeper.fleet SET oldest = 1")
      let again = try scene.launch("node-d")
      try await run.progress(nodes: [other, again])
      try await run.check(ledger, nodes: [other, again])
    }
  }
}

#endif
