// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import TestKit
import Testing

extension ServerFaults {
  @Test("PostgreSQL crashes and comes back", .enabled(if: FleetFault.postgres.isWanted))
  func faultPostgres() async throws {
    let fault = FleetFault.postgres
    try await fault.measure { ledger in
      var plan = FleetScene.Plan()
      let server = try PostgresServer()
      plan.server = server
      let scene = try await FleetScene.make(plan)
      let node = try scene.launch("node-a")
      try await scene.served(by: node)
      let run = try await FleetRun.start(scene)
      for round in 1...fault.rounds(short: 2, long: 30) {
        let now = ContinuousClock.now
        server.kill()
        if round.isMultiple(of: 3) {
          // Longer than the node may rely on its leases.
          try await Task.sleep(for: .seconds(11))
          try server.start()
          try await run.progress(nodes: [node])
        } else {
          try server.start()
          try await run.progress(since: now, ledger, nodes: [node])
        }
        ledger.round()
      }
      try await run.check(ledger, nodes: [node])
    }
  }

  @Test(
    "A connection is cut at a commit: before its end, after it was sent, before its answer",
    .enabled(if: FleetFault.commit.isWanted))
  func faultCommit() async throws {
    let fault = FleetFault.commit
    try await fault.measure { ledger in
      let server = try PostgresServer.shared()
      let relay = try PostgresRelay(
        to: "\(server.directory)/.s.PGSQL.\(server.port)")
      var plan = FleetScene.Plan()
      plan.url = {
        "host=127.0.0.1 port=\(relay.port) dbname=\($0) user=postgres sslmode=disable "
          + "gssencmode=disable"
      }
      plan.rate = fault.isLong ? 400 : 80
      let scene = try await FleetScene.make(plan)
      let node = try scene.launch("node-a")
      try await scene.served(by: node)
      let run = try await FleetRun.start(scene)
      for round in 1...fault.rounds(short: 6, long: 300) {
        let cuts = relay.cuts
        relay.cutNextCommit(PostgresRelay.Cut.allCases[round % 3])
        try await eventually("a commit that is cut") { relay.cuts > cuts }
        try await run.progress(since: .now, ledger, nodes: [node])
        ledger.round()
      }
      try await run.check(ledger, nodes: [node])
    }
  }

  @Test("A synchronous standby is promoted", .enabled(if: FleetFault.standby.isWanted))
  func faultStandby() async throws {
    let fault = FleetFault.standby
    try await fault.measure { ledger in
      // Who was promoted has no standby, so each round begins with new servers.
      for _ in 1...fault.rounds(short: 1, long: 12) {
        let primary = try PostgresServer()
        let standby = try primary.makeStandby()
        var plan = FleetScene.Plan()
        plan.server = primary
        plan.url = {
          "host=\(primary.directory),\(standby.directory) port=\(primary.port),\(standby.port) "
            + "dbname=\($0) user=postgres target_session_attrs=read-write"
        }
        let scene = try await FleetScene.make(plan)
        let node = try scene.launch("node-a")
        try await scene.served(by: node)
        let run = try await FleetRun.start(scene)
        try await Task.sleep(for: .milliseconds(.random(in: 0...500)))
        let now = ContinuousClock.now
        primary.kill()
        try standby.promote()
        try await run.progress(since: now, ledger, nodes: [node])
        ledger.round()
        try await run.check(ledger, in: standby, nodes: [node])
      }
    }
  }

  @Test("The broker is started again", .enabled(if: FleetFault.broker.isWanted))
  func faultBroker() async throws {
    let fault = FleetFault.broker
    try await fault.measure { ledger in
      let scene = try await FleetScene.make()
      let nodes = try ["node-a", "node-b"].map { try scene.launch($0) }
      try await scene.served(by: nodes[0], nodes[1])
      let run = try await FleetRun.start(scene)
      for _ in 1...fault.rounds(short: 2, long: 10) {
        let now = ContinuousClock.now
        // As systemd does it: it saves what waits in it.
        scene.broker.stop()
        try scene.broker.start()
        try await run.progress(since: now, within: .seconds(120), ledger, nodes: nodes)
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }
}

#endif
