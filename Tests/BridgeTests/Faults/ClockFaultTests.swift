import Home
import TestKit
import Testing

@testable import Bridge

@Suite("A clock that jumps under the loop") struct ClockFaultTests {
  private static let year = 31_536_000
  private static let jumps = [0, 1, 40, 400, 86_400, year, 10 * year, -1, -40, -86_400, -year, -10 * year]

  @Test("Whenever it jumps, all that is reported is stored, and what is silent is noticed", arguments: [1, 2])
  func jumps(seed: UInt64) throws { try live(seed, steps: 60) }

  @Test("The same for many lives", .enabled(if: Soak.clock.isWanted, "`make soak` runs it")) func soakClock()
    async throws
  {
    try await Soak.clock.measure { ledger in
      for seed in UInt64(1)...100 {
        try live(seed, steps: 200)
        ledger.round()
      }
      ledger.name("`BorderRouterOffline` of the silent one")
    }
  }

  private func live(_ seed: UInt64, steps: Int) throws {
    var random = SeededGenerator(seed: seed)
    var kit = try LoopKit()
    func jump(_ seconds: Int, _ kit: LoopKit) throws {
      kit.time.advance(seconds: seconds)
      try kit.loop.clockJumped(by: Int64(seconds) * 1_000)
      try kit.pass()
    }
    var reported: [Int: (network: UInt8, seconds: UInt64)] = [:]
    for step in 1...steps {
      let words = "seed \(seed), step \(step)"
      let router = Int.random(in: 0..<4, using: &random)
      let network = UInt8.random(in: 1...2, using: &random)
      try kit.receive(.announce(router, .of(network, at: UInt64(step))))
      reported[router] = (network, UInt64(step))
      try jump(Self.jumps.randomElement(using: &random) ?? 0, kit)
      if step % 10 == 0 {
        let home = kit.home
        kit = try kit.restarted()
        try Soak.check(
          kit.home.routers == home.routers && kit.home.preferred == home.preferred,
          "\(words): the home was read as another one")
      }
      for (router, last) in reported {
        let stored = try kit.dataset(.router(.agent(router)))
        try Soak.check(stored == .of(last.network, at: last.seconds), "\(words): router \(router) is lost")
      }
    }
    // One router goes on, another one falls silent, and the clock is set forward between two of their heartbeats.
    func beat(_ router: Int) throws { try kit.receive(.message("heartbeat", router)) }
    for router in 0..<2 {
      try kit.receive(.announce(router, .of(1, at: 10_000)))
      try beat(router)
    }
    try jump(Self.jumps.map(abs).randomElement(using: &random) ?? 0, kit)
    func isOnline(_ router: Int) -> Bool? { kit.router(router)?.isOnline }
    try Soak.check(isOnline(0) == true && isOnline(1) == true, "seed \(seed): the clock has ended a router")
    let link = Link(connection: 1, listeningSince: kit.time.now)
    for second in 1...450 {
      kit.time.advance(seconds: 1)
      if second % 60 == 0 { try beat(0) }
      try kit.loop.tick(link)
    }
    try Soak.check(isOnline(0) == true && isOnline(1) == false, "seed \(seed): silence is not noticed")
    let alert = kit.home.alerts[AlertKey(.borderRouterOffline, .router(.agent(1)))]
    try Soak.check(alert?.phase == .firing, "seed \(seed): there is no alert")
  }
}
