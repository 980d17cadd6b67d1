// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing

@testable import Bridge

/// The bridge takes the time from a `Clock`, and this one jumps.
@Suite("A clock that jumps")
struct ClockJumpTests {
  private static let year = 31_536_000
  private static let jumps = [
    0, 1, 40, 400, 86_400, year, 10 * year, -1, -40, -86_400, -year, -10 * year,
  ]

  @Test("A condition that began before the clock was set back by a year is raised after its hold")
  func hold() throws {
    let bridge = try TestBridge.settled()
    try bridge.announce(Agent.attic, .guest, at: 9)
    try bridge.pass(1)
    bridge.clock.advance(seconds: -Self.year)
    try bridge.pass(0)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
    try bridge.pass(bridge.configuration.alertsHold)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .firing)
  }

  @Test("A router that falls silent when the clock is set back by a year is noticed")
  func silence() throws {
    let bridge = try TestBridge.settled()
    try bridge.say(.heartbeat, Agent.attic)
    bridge.clock.advance(seconds: -Self.year)
    try bridge.pass(0)
    for _ in 0..<4 { try bridge.pass(bridge.configuration.offlineAfter) }
    #expect(try bridge.router(Agent.attic)?.isOnline == false)
  }

  @Test("The same where the daemon was away when the clock was set back")
  func restart() throws {
    let bridge = try TestBridge.settled()
    try bridge.say(.heartbeat, Agent.attic)
    bridge.clock.advance(seconds: -Self.year)
    try bridge.restart()
    for _ in 0..<4 { try bridge.pass(bridge.configuration.offlineAfter) }
    #expect(try bridge.router(Agent.attic)?.isOnline == false)
  }

  @Test(
    "Whenever it jumps, all that is reported is stored, and what is silent is noticed",
    arguments: [1, 2])
  func jumps(seed: UInt64) throws { try live(seed, steps: 60) }

  @Test("The same for many lives", .enabled(if: Soak.clock.isWanted, "`make soak` runs it"))
  func soakClock() async throws {
    try await Soak.clock.measure { ledger in
      for seed in UInt64(1)...12 {
        try live(seed, steps: 120)
        ledger.round()
      }
      ledger.name("alert `BorderRouterOffline` of the silent one")
    }
  }

  private func live(_ seed: UInt64, steps: Int) throws {
    var random = SeededGenerator(seed: seed)
    let bridge = try TestBridge()
    let routers = (0..<4).map { Fleet.agent($0) }
    var reported: [String: (network: SampleNetwork, seconds: UInt64)] = [:]
    for step in 1...steps {
      let words = "seed \(seed), step \(step)"
      let agent = routers.randomElement(using: &random) ?? ""
      let network = Bool.random(using: &random) ? SampleNetwork.home : .guest
      try bridge.announce(agent, network, at: UInt64(step))
      reported[agent] = (network, UInt64(step))
      bridge.clock.advance(seconds: Self.jumps.randomElement(using: &random) ?? 0)
      try bridge.pass(0)
      if step % 10 == 0 { try bridge.restart() }
      for (agent, last) in reported {
        let stored = try bridge.credential(agent)?.dataset
        try Soak.check(
          try stored == last.network.dataset(at: last.seconds), "\(words): \(agent) is lost")
      }
      try Recount(bridge: bridge, comment: Comment(rawValue: words)).check()
    }
    // The clock is right again. `Ticker` sees to it that the intake did not begin to listen later.
    bridge.listeningSince = bridge.clock.now()
    // One router goes on, another one falls silent.
    for agent in routers.prefix(2) {
      try bridge.announce(agent, .home, at: 10_000)
      try bridge.say(.heartbeat, agent)
    }
    for _ in 0..<6 {
      try bridge.pass(bridge.configuration.offlineAfter / 3)
      try bridge.say(.heartbeat, routers[0])
    }
    let firing = try bridge.firing()
    try Soak.check(firing.contains("BorderRouterOffline \(routers[1])"), "seed \(seed): \(firing)")
    try Soak.check(!firing.contains("BorderRouterOffline \(routers[0])"), "seed \(seed): \(firing)")
    let report = try bridge.temporary.keychain.verify(.everything)
    try Soak.check(report.matchesManifest && report.unreadable.isEmpty, "seed \(seed): \(report)")
  }
}
