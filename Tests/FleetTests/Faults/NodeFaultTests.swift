// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import TestKit
import Testing

extension NodeFaults {
  @Test("kill -9 of nodes, which start again", .enabled(if: FleetFault.kill.isWanted))
  func faultKill() async throws {
    let fault = FleetFault.kill
    try await fault.measure(limit: 3) { ledger in
      var plan = FleetScene.Plan()
      // Each has half of the shards, and no room for more.
      plan.shardsAtMost = 2
      plan.rate = fault.isLong ? 200 : 80
      let scene = try await FleetScene.make(plan)
      var nodes = try ["node-a", "node-b"].map { try scene.launch($0) }
      try await scene.served(by: nodes[0], nodes[1])
      let run = try await FleetRun.start(scene)
      for kill in 1...fault.rounds(short: 5, long: 200) {
        let victim = Int.random(in: 0...1)
        let shards = try scene.shards(of: nodes[victim].name)
        try await Task.sleep(for: .milliseconds(.random(in: 0...300)))
        try Soak.check(nodes[victim].isRunning, "it ended by itself:\n\(nodes[victim].log)")
        let now = ContinuousClock.now
        try await nodes[victim].kill9()
        nodes[victim] = try scene.launch(nodes[victim].name)
        if kill.isMultiple(of: 5) {
          // Once more in its first steps.
          try await Task.sleep(for: .milliseconds(.random(in: 0...400)))
          try await nodes[victim].kill9()
          nodes[victim] = try scene.launch(nodes[victim].name)
          try await run.progress(nodes: nodes)
        } else {
          try await run.progress(since: now, in: shards, ledger, nodes: nodes)
        }
        ledger.round()
      }
      try await run.check(ledger, nodes: nodes)
    }
  }

  @Test("A node is lost, and another one takes its shards", .enabled(if: FleetFault.lost.isWanted))
  func faultLost() async throws {
    let fault = FleetFault.lost
    try await fault.measure(limit: 15) { ledger in
      let scene = try await FleetScene.make()
      var owner = try scene.launch("node-a")
      try await scene.served(by: owner)
      var other = try scene.launch("node-b")
      let run = try await FleetRun.start(scene)
      for _ in 1...fault.rounds(short: 1, long: 20) {
        try await Task.sleep(for: .milliseconds(.random(in: 0...2000)))
        let now = ContinuousClock.now
        try await owner.kill9()
        try await run.progress(since: now, ledger, nodes: [other])
        ledger.round()
        owner = try scene.launch(owner.name)
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }

  @Test(
    "A node that stood still longer than its lease changes nothing when it goes on",
    .enabled(if: FleetFault.zombie.isWanted))
  func faultZombie() async throws {
    let fault = FleetFault.zombie
    try await fault.measure(limit: 15) { ledger in
      let scene = try await FleetScene.make()
      var owner = try scene.launch("node-a")
      try await scene.served(by: owner)
      var other = try scene.launch("node-b")
      let run = try await FleetRun.start(scene)
      for _ in 1...fault.rounds(short: 1, long: 12) {
        let now = ContinuousClock.now
        try await owner.suspend()
        try await run.progress(since: now, ledger, nodes: [other])
        let before = try scene.leases()
        owner.signal(SIGCONT)
        // It has noticed when it has nothing any more.
        try await eventually("\(owner.name) to give its shards up") {
          for shard in scene.shards where await scene.serves(owner, shard) { return false }
          return true
        }
        try await run.progress(nodes: [owner, other])
        let after = try scene.leases()
        try Soak.check(
          after.map(\.epoch) == before.map(\.epoch) && after.map(\.node) == before.map(\.node),
          "it took something back: \(before), then \(after); it wrote:\n\(owner.log.suffix(4000))")
        try Soak.check(owner.isRunning, "\(owner.name) has ended:\n\(owner.log.suffix(4000))")
        ledger.round()
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }

  @Test(
    "A node that is stopped gives its shards away within 2 s, and so does one that is drained",
    .enabled(if: FleetFault.drain.isWanted))
  func faultDrain() async throws {
    let fault = FleetFault.drain
    try await fault.measure(limit: 5) { ledger in
      let scene = try await FleetScene.make()
      var owner = try scene.launch("node-a")
      try await scene.served(by: owner)
      var other = try scene.launch("node-b")
      let run = try await FleetRun.start(scene)
      for round in 1...fault.rounds(short: 2, long: 40) {
        try await scene.ready(other)
        let now = ContinuousClock.now
        if round.isMultiple(of: 2) {
          try await scene.check(["fleet", "drain", owner.name])
          try await scene.waitUntil(owner, holds: 0)
        } else {
          owner.signal(SIGTERM)
          try Soak.check(
            try await owner.end() == .exit(0), "it did not stop:\n\(owner.log.suffix(4000))")
          let seconds = (ContinuousClock.now - now) / .seconds(1)
          if fault.isLong { try Soak.check(seconds <= 2, "it took \(seconds) s to stop") }
          let kept = try scene.shards(of: owner.name)
          try Soak.check(kept.isEmpty, "it kept \(kept):\n\(owner.log.suffix(4000))")
        }
        try await run.progress(since: now, ledger, nodes: [owner, other])
        if round.isMultiple(of: 2) {
          try await scene.check(["fleet", "drain", owner.name, "--undo"])
        } else {
          owner = try scene.launch(owner.name)
        }
        ledger.round()
        (owner, other) = (other, owner)
      }
      try await run.check(ledger, nodes: [owner, other])
    }
  }
}

#endif
