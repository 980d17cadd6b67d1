#if Fleet
import Foundation
import TestKit
import Testing

/// What happens to nodes while messages come: nothing that the broker has acknowledged is lost, the last word of each
/// router stays the last, and homes are kept apart. Each is one scene with real processes; one at a time, because they
/// mostly wait.
@Suite(
  "Faults of nodes", .serialized, .timeLimit(.minutes(30)),
  .enabled(if: PostgresServer.isAvailable, "there is no PostgreSQL")) struct NodeFaults
{
  @Test("kill -9 of nodes, which start again", .enabled(if: FleetFault.kill.isWanted)) func faultKill() async throws {
    let fault = FleetFault.kill
    try await fault.measure(limit: 3) { ledger in
      var plan = TestFleet.Plan()
      // Each has half of the shards, and no room for more.
      plan.shardsAtMost = 2
      plan.rate = fault.isLong ? 200 : 80
      let (run, started) = try await FleetRun.start(plan, nodes: "node-a", "node-b")
      var nodes = started
      for kill in 1...fault.rounds(short: 2, long: 200) {
        let victim = Int.random(in: 0...1)
        let shards = try run.fleet.shards(of: nodes[victim].name)
        try await Task.sleep(for: .milliseconds(.random(in: 0...300)))
        try Soak.check(nodes[victim].isRunning, "it ended by itself:\n\(nodes[victim].log)")
        let now = ContinuousClock.now
        try await nodes[victim].kill9()
        nodes[victim] = try run.fleet.launch(nodes[victim].name)
        if kill.isMultiple(of: fault.isLong ? 5 : 2) {
          // Once more in its first steps.
          try await Task.sleep(for: .milliseconds(.random(in: 0...400)))
          try await nodes[victim].kill9()
          nodes[victim] = try run.fleet.launch(nodes[victim].name)
          try await run.progress(nodes: nodes)
        } else {
          try await run.progress(since: now, in: shards, ledger, nodes: nodes)
        }
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }

  // Without a short form: the next one waits for the end of a lease as well, and is harder.
  @Test("A node is lost, and another one takes its shards", .enabled(if: FleetFault.lost.isLong)) func faultLost()
    async throws
  {
    let fault = FleetFault.lost
    try await fault.measure(limit: 15) { ledger in
      let (run, nodes) = try await FleetRun.start(nodes: "node-a")
      var (owner, other) = (nodes[0], try run.fleet.launch("node-b"))
      for _ in 1...fault.rounds(short: 1, long: 20) {
        try await Task.sleep(for: .milliseconds(.random(in: 0...2000)))
        let now = ContinuousClock.now
        try await owner.kill9()
        try await run.progress(since: now, ledger, nodes: [other])
        ledger.round()
        owner = try run.fleet.launch(owner.name)
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }

  @Test(
    "A node that stood still longer than its lease changes nothing when it goes on",
    .enabled(if: FleetFault.zombie.isWanted)) func faultZombie() async throws
  {
    let fault = FleetFault.zombie
    try await fault.measure(limit: 15) { ledger in
      let (run, nodes) = try await FleetRun.start(nodes: "node-a")
      let fleet = run.fleet
      var (owner, other) = (nodes[0], try fleet.launch("node-b"))
      for _ in 1...fault.rounds(short: 1, long: 12) {
        let now = ContinuousClock.now
        try await owner.suspend()
        try await run.progress(since: now, ledger, nodes: [other])
        let before = try fleet.leases()
        owner.signal(SIGCONT)
        // It has noticed when it has nothing any more.
        try await eventually("\(owner.name) to give its shards up") {
          for shard in fleet.shards where await fleet.serves(owner, shard) { return false }
          return true
        }
        try await run.progress(nodes: [owner, other])
        let after = try fleet.leases()
        try Soak.check(
          after.map(\.epoch) == before.map(\.epoch) && after.map(\.node) == before.map(\.node),
          "it took something back: \(before), then \(after)\n\(TestFleet.logs([owner]))")
        try Soak.check(owner.isRunning, "it has ended:\n\(TestFleet.logs([owner]))")
        ledger.round()
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }

  @Test(
    "A node that is stopped gives its shards away within 2 s, and so does one that is drained",
    .enabled(if: FleetFault.drain.isWanted)) func faultDrain() async throws
  {
    let fault = FleetFault.drain
    try await fault.measure(limit: 5) { ledger in
      let (run, nodes) = try await FleetRun.start(nodes: "node-a")
      let fleet = run.fleet
      var (owner, other) = (nodes[0], try fleet.launch("node-b"))
      for round in 1...fault.rounds(short: 2, long: 40) {
        try await fleet.ready(other)
        let now = ContinuousClock.now
        if round.isMultiple(of: 2) {
          try await fleet.check("fleet", "drain", owner.name)
          try await eventually("the shards of \(owner.name)") { try fleet.shards(of: owner.name).isEmpty }
        } else {
          try Soak.check(try await owner.stop() == .exit(0), "it did not stop:\n\(TestFleet.logs([owner]))")
          let seconds = (ContinuousClock.now - now) / .seconds(1)
          if fault.isLong { try Soak.check(seconds <= 2, "it took \(seconds) s to stop") }
          let kept = try fleet.shards(of: owner.name)
          try Soak.check(kept.isEmpty, "it kept \(kept):\n\(TestFleet.logs([owner]))")
        }
        try await run.progress(since: now, ledger, nodes: [owner, other])
        if round.isMultiple(of: 2) {
          try await fleet.check("fleet", "drain", owner.name, "--undo")
        } else {
          owner = try fleet.launch(owner.name)
        }
        ledger.round()
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }

  @Test(
    "Of nodes that want one shard one gets it, and each change of hands is one claim",
    .enabled(if: FleetFault.contest.isWanted)) func faultContest() async throws
  {
    let fault = FleetFault.contest
    try await fault.measure(limit: 5) { ledger in
      var plan = TestFleet.Plan()
      plan.shards = 1
      let fleet = try TestFleet(plan)
      var nodes: [String: DaemonProcess] = [:]
      for name in ["node-a", "node-b", "node-c"] { nodes[name] = try fleet.launch(name) }
      func servers() async -> [DaemonProcess] {
        var servers: [DaemonProcess] = []
        for node in nodes.values where await fleet.serves(node, 1) { servers.append(node) }
        return servers
      }
      try await eventually("a node that serves it") { await !servers().isEmpty }
      let run = try await FleetRun.start(fleet)
      let rounds = fault.rounds(short: 1, long: 40)
      for _ in 1...rounds {
        let holders = await servers()
        try Soak.check(holders.count == 1, "\(holders.count) nodes serve the shard")
        try Soak.check(try fleet.shards(of: holders[0].name) == [1], "another one has its lease")
        for node in nodes.values { try await fleet.ready(node) }
        let now = ContinuousClock.now
        try await holders[0].stop()
        try await run.progress(since: now, ledger, nodes: Array(nodes.values))
        nodes[holders[0].name] = try fleet.launch(holders[0].name)
        ledger.round()
      }
      let epochs = try fleet.epochs()
      try Soak.check(epochs == [rounds + 1], "epochs \(epochs) after \(rounds) changes")
      try await run.check(ledger, nodes: Array(nodes.values))
    }
  }
}
#endif
