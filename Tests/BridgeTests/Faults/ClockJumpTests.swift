// SPDX-License-Identifier: Apache-2.0

import Broker
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
    bridge.clock.jump(seconds: -Self.year)
    try bridge.pass(0)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
    try bridge.pass(bridge.configuration.alertsHold)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .firing)
  }

  @Test("A condition that begins after the clock was set back, before the next tick, is held, too")
  func holdAfterwards() throws {
    let bridge = try TestBridge.settled()
    bridge.clock.jump(seconds: -Self.year)
    try bridge.announce(Agent.attic, .guest, at: 9)
    try bridge.pass()
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
  }

  @Test("A router that appears is unknown, whether the clock was set back by a year or not")
  func unknownRouter() throws {
    let bridge = try TestBridge {
      $0.discoversRouters = true
      $0.alertsHold = 0
    }
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.discover([])
    bridge.clock.jump(seconds: -Self.year)
    try bridge.pass()
    try bridge.passFirstLook()
    try bridge.discover([Advert(at: 5)])
    #expect(try bridge.alarms() == ["UnknownRouter \(Agent.garage)"])
  }

  @Test("A router that falls silent when the clock is set back by a year is noticed")
  func silence() throws {
    let bridge = try TestBridge.settled()
    try bridge.say(.heartbeat, Agent.attic)
    bridge.clock.jump(seconds: -Self.year)
    try bridge.pass(0)
    for _ in 0..<4 { try bridge.pass(bridge.configuration.offlineAfter) }
    #expect(try bridge.router(Agent.attic)?.isOnline == false)
  }

  @Test("A Thread state that began before the clock was set back by a year has begun by now")
  func threadState() throws {
    let bridge = try TestBridge.settled()
    try bridge.say(.heartbeat, Agent.attic, ["thread_state": "leader"])
    bridge.clock.jump(seconds: -Self.year)
    try bridge.pass()
    let router = try #require(try bridge.router(Agent.attic))
    #expect(router.threadStateSince == bridge.clock.now())
    #expect(router.threadStateReported == bridge.clock.now())
  }

  @Test("A notice ends as long after it began, whether the clock was set back by a year or not")
  func notice() throws {
    let bridge = try TestBridge.settled()
    let name = try #require(AlertName.notices.first)
    _ = try bridge.transaction { transaction in
      let home = try #require(transaction.context.servedHomes.first).record.id
      try transaction.apply([
        .alert(name, AlertFacts(summary: "a notice", remedy: "none"), home: home)
      ])
    }
    try bridge.pass(bridge.configuration.alertsHold)
    #expect(try bridge.alert(name)?.phase == .firing)
    bridge.clock.jump(seconds: -Self.year)
    try bridge.pass(0)
    #expect(try bridge.alert(name)?.phase == .firing)
    try bridge.pass(name.definition.noticeDuration ?? 0)
    #expect(try bridge.alert(name)?.phase != .firing)
  }

  @Test("A silent router is noticed, too, where the daemon was away when the clock was set back")
  func restart() throws {
    let bridge = try TestBridge.settled()
    try bridge.say(.heartbeat, Agent.attic)
    bridge.clock.jump(seconds: -Self.year)
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
      bridge.clock.jump(seconds: Self.jumps.randomElement(using: &random) ?? 0)
      try bridge.pass(0)
      if step % 10 == 0 { try bridge.restart() }
      for (agent, last) in reported {
        let stored = try bridge.credential(agent)?.dataset
        try Soak.check(
          try stored == last.network.dataset(at: last.seconds), "\(words): \(agent) is lost")
      }
      try Recount(bridge: bridge, comment: Comment(rawValue: words)).check()
    }
    // One router goes on, another one falls silent, and the clock is set forward between two of its heartbeats.
    for agent in routers.prefix(2) {
      try bridge.announce(agent, .home, at: 10_000)
      try bridge.say(.heartbeat, agent)
    }
    bridge.clock.jump(seconds: Self.jumps.map(abs).randomElement(using: &random) ?? 0)
    try bridge.pass(0)
    for agent in routers.prefix(2) {
      let isOnline = try bridge.router(agent)?.isOnline
      try Soak.check(isOnline == true, "seed \(seed): the clock has ended \(agent)")
    }
    try bridge.say(.heartbeat, routers[0])
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
