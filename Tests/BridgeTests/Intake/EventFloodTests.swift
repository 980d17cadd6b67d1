// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import TestKit
import Testing

@testable import Bridge

@Suite("A login that floods")
struct EventFloodTests {
  private func intake(_ bridge: TestBridge, _ monitor: BridgeMonitor) throws -> Intake {
    try bridge.intake(bridge.runner(monitor))
  }

  @Test("Beyond its bucket it is refused by name, ten times a second, and counted; others go on")
  func bucket() throws {
    let bridge = try TestBridge {
      $0.eventsPerSecond = 5
      $0.eventsBurst = 20
    }
    let monitor = BridgeMonitor()
    let intake = try intake(bridge, monitor)
    let flood = try (0..<100).map { _ in
      try bridge.message(.heartbeat, Agent.attic, user: "mallory")
    }
    try intake.received(
      flood + [
        try bridge.message(
          .announce, Agent.living, ["dataset": try SampleNetwork.home.dataset(at: 1).hex])
      ])
    let codes = try bridge.takeEvents().filter { $0.types == .messageRejected }.map(\.detail.code)
    #expect(codes.count { $0 == "not_found" } == 20)
    #expect(codes.count { $0 == "rate_limited" } == 10)
    #expect(monitor.snapshot.rejected == 100)
    #expect(try bridge.router(Agent.living)?.isPresent == true)
    bridge.clock.advance(seconds: 1)
    try intake.received(flood)
    #expect(
      try bridge.takeEvents().filter { $0.detail.code == "not_found" }.count == 5)
  }

  @Test(
    "Messages with a bad topic or the retain flag count too: no more events than the bucket gives",
    arguments: [("party", false, "unknown_event"), ("announce", true, "retained")])
  func refusals(kind: String, isRetained: Bool, code: String) throws {
    let bridge = try TestBridge {
      $0.eventsPerSecond = 5
      $0.eventsBurst = 20
    }
    let monitor = BridgeMonitor()
    let intake = try intake(bridge, monitor)
    let bad = IncomingMessage(
      topic: "threadkeeper/in/mallory/\(kind)", payload: [0x7B], isRetained: isRetained)
    let flood = Array(repeating: bad, count: 1_000)
    try intake.received(
      flood + [try bridge.message(.announce, Agent.living, user: "mallory")])
    let codes = try bridge.takeEvents().map(\.detail.code)
    #expect(codes.count { $0 == code } == 20)
    #expect(codes.count { $0 == "rate_limited" } == 10)
    #expect(codes.count == 30)
    #expect(monitor.snapshot.rejected + monitor.snapshot.retainedIgnored == 1_001)
    #expect(try bridge.router(Agent.living) == nil)
    try intake.received([try bridge.message(.announce, Agent.attic, user: "anna")])
    #expect(try bridge.router(Agent.attic) != nil)
  }

  @Test(
    "A team at its cap announces no new router, continues with its own, and has room after a leave")
  func routers() throws {
    let bridge = try TestBridge { $0.routersPerTeam = 2 }
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    #expect(try bridge.announce(Agent.garage, .home, at: 1).rejected == ["too_many_routers": 1])
    #expect(try bridge.router(Agent.garage) == nil)
    #expect(try bridge.credential(Agent.garage) == nil)
    #expect(try bridge.announce(Agent.garage, .home, at: 1, user: "bob").rejected.isEmpty)
    #expect(try bridge.announce(Agent.living, .home, at: 2).rejected.isEmpty)
    try bridge.say(.leave, Agent.attic)
    #expect(try bridge.say(.announce, Agent.attic).rejected.isEmpty)
  }

  @Test("Ten lines in ten seconds about each matter, and then how many there were more")
  func lines() {
    var pace = NewsPace()
    func take(_ wanted: Int, _ matter: BatchNews.Matter, at seconds: Int64) -> [Int] {
      let (lines, skipped) = pace.take(
        wanted, of: matter, beside: 0, at: WireTime(milliseconds: seconds * 1_000))
      return [lines, skipped]
    }
    #expect(take(6, .routers, at: 0) == [6, 0])
    #expect(take(6, .routers, at: 1) == [4, 2])
    #expect(take(6, .routers, at: 2) == [0, 0])
    #expect(take(3, .alerts, at: 2) == [3, 0])
    #expect(take(1, .routers, at: 10) == [1, 6])
    #expect(take(1, .routers, at: -5_000) == [1, 0])
  }
}
