#if Fleet
import Broker
import Foundation
import TestKit
import Testing

@testable import Fleet

/// What happens to the servers of a fleet and to connections while messages come, and what is written by others. See
/// `NodeFaults`.
@Suite(
  "Faults of a fleet's servers", .serialized, .timeLimit(.minutes(30)),
  .enabled(if: PostgresServer.isAvailable, "there is no PostgreSQL")) struct ServerFaults
{
  @Test("PostgreSQL crashes and comes back", .enabled(if: FleetFault.postgres.isWanted)) func faultPostgres()
    async throws
  {
    let fault = FleetFault.postgres
    try await fault.measure { ledger in
      let server = try PostgresServer()
      var plan = TestFleet.Plan()
      plan.server = server
      let (run, nodes) = try await FleetRun.start(plan, nodes: "node-a")
      for round in 1...fault.rounds(short: 1, long: 30) {
        let now = ContinuousClock.now
        server.kill()
        if round.isMultiple(of: 3) {
          // Longer than the node may rely on its leases.
          try await Task.sleep(for: .seconds(11))
          try server.start()
          try await run.progress(nodes: nodes)
        } else {
          try server.start()
          try await run.progress(since: now, ledger, nodes: nodes)
        }
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }

  @Test(
    "A connection is cut at a commit: before its end, after it was sent, before its answer",
    .enabled(if: FleetFault.commit.isWanted)) func faultCommit() async throws
  {
    let fault = FleetFault.commit
    try await fault.measure { ledger in
      let relay = try Relay(toPostgres: PostgresServer.shared().socketPath)
      var plan = TestFleet.Plan()
      plan.url = { relay.url(database: $0) }
      plan.rate = fault.isLong ? 400 : 80
      let (run, nodes) = try await FleetRun.start(plan, nodes: "node-a")
      for round in 1...fault.rounds(short: 3, long: 300) {
        let cuts = relay.commitCuts
        relay.cutNextCommit(Relay.CommitCut.allCases[round % 3])
        try await eventually("a commit that is cut") { relay.commitCuts > cuts }
        try await run.progress(since: .now, ledger, nodes: nodes)
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }

  @Test("A synchronous standby is promoted", .enabled(if: FleetFault.standby.isWanted)) func faultStandby() async throws
  {
    let fault = FleetFault.standby
    try await fault.measure { ledger in
      // Who was promoted has no standby, so each round begins with new servers.
      for _ in 1...fault.rounds(short: 1, long: 12) {
        let primary = try PostgresServer()
        let standby = try primary.makeStandby()
        var plan = TestFleet.Plan()
        plan.server = primary
        plan.url = {
          "host=\(primary.directory),\(standby.directory) port=\(primary.port),\(standby.port) "
            + "dbname=\($0) user=postgres target_session_attrs=read-write"
        }
        let (run, nodes) = try await FleetRun.start(plan, nodes: "node-a")
        try await Task.sleep(for: .milliseconds(.random(in: 0...500)))
        let now = ContinuousClock.now
        primary.kill()
        try standby.promote()
        try await run.progress(since: now, ledger, nodes: nodes)
        ledger.round()
        try await run.check(ledger, in: standby, nodes: nodes)
      }
    }
  }

  @Test("The broker is started again", .enabled(if: FleetFault.broker.isWanted)) func faultBroker() async throws {
    let fault = FleetFault.broker
    try await fault.measure { ledger in
      let (run, nodes) = try await FleetRun.start(nodes: "node-a", "node-b")
      for _ in 1...fault.rounds(short: 1, long: 10) {
        let now = ContinuousClock.now
        // As systemd does it: it saves what waits in it.
        run.fleet.broker.stop()
        try run.fleet.broker.start()
        try await run.progress(since: now, within: .seconds(120), ledger, nodes: nodes)
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }

  @Test(
    "No home sees another's routers or credentials, and topics of no home change nothing",
    .enabled(if: FleetFault.isolation.isWanted)) func faultIsolation() async throws
  {
    let fault = FleetFault.isolation
    try await fault.measure { ledger in
      var plan = TestFleet.Plan()
      plan.shards = fault.isLong || Soak.triesAll ? 4 : 2
      let (run, nodes) = try await FleetRun.start(plan, nodes: "node-a")
      let fleet = run.fleet
      // Shards and homes that are not there, homes of other shards, and names that mean something in a filter.
      let publisher = try await TestPublisher.start(fleet.broker)
      let dataset = try SampleNetwork.guest.dataset(at: 9).hex
      let payload = Array(#"{"border_agent_id":"ffffffffffffffff","dataset":"\#(dataset)"}"#.utf8)
      let foreign = ["1/home-9", "9/home-1", "1/1/home-1", "home-1", "01/home-1", "1/Home-1"]
      try await publisher.publish(
        foreign.map { Publication(topic: "\(TestFleet.base)/\($0)/in/routers/announce", payload: payload) })
      try await run.progress(nodes: nodes)
      // What is asked of one home is answered from it alone: all have routers with the same ids.
      for (index, home) in fleet.homes.enumerated() {
        let output = try await fleet.check("credentials", "list", "--home", "\(home)", "--json")
        let networks = fleet.homes.indices.filter { output.contains(FleetLoad.network($0).extendedPANID) }
        try Soak.check(networks == [index], "\(home) shows networks of homes \(networks)")
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
      // The database has names of homes, and no key of a network.
      let dump = try fleet.server.dump(database: fleet.database)
      try Soak.check(dump.contains("home-1"), "the dump has no homes")
      for index in fleet.homes.indices {
        let key = FleetLoad.network(index).networkKey
        try Soak.check(!dump.contains(key), "a network key of \(fleet.homes[index]) is readable")
      }
    }
  }

  @Test(
    "A newer database is served as long as it says that this program may", .enabled(if: FleetFault.versions.isWanted))
  func faultVersions() async throws {
    try await FleetFault.versions.measure { ledger in
      let (run, nodes) = try await FleetRun.start(nodes: "node-a")
      let fleet = run.fleet
      // A newer program has upgraded it.
      let newer = FleetSchema.version + 1
      try fleet.sql("UPDATE threadkeeper.fleet SET version = \(newer), oldest = \(FleetSchema.version)")
      let other = try fleet.launch("node-b")
      try await fleet.ready(other)
      let now = ContinuousClock.now
      try await nodes[0].stop()
      try await run.progress(since: now, ledger, nodes: [other])
      ledger.round()
      // And now it does what this program does not know.
      try fleet.sql("UPDATE threadkeeper.fleet SET version = \(newer), oldest = \(newer)")
      let late = try fleet.launch("node-c")
      let end = try await late.end()
      try Soak.check(end == .exit(78), "it ended with \(end): \(late.log)")
      try Soak.check(late.log.contains("version \(newer)"), "it does not name the version: \(late.log)")
      ledger.round()
      try await run.check(ledger, nodes: [other])
    }
  }
}
#endif
