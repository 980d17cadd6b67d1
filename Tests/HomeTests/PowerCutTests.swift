import Testing
import ThreadDataset

@testable import Home

/// Routers that go away together are one alert of the home.
@Suite struct PowerCutTests {
  private static let outage = AlertKey.of(.homeOffline)

  private static func offline(_ agents: UInt64...) -> Set<AlertKey> {
    Set(agents.map { .of(.borderRouterOffline, $0) })
  }

  private static func scene(of count: UInt64, hold: Int = 30) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = hold
      $0.settings.routersPerTeam = 200
    }
    scene.announce(1...count, .of(1))
    return scene
  }

  @Test(
    "Three quarters of the routers that were there, and at least two, make it an alert of the home",
    arguments: [
      (all: 1, gone: [1], outage: false), (2, [1], false), (2, [1, 2], true), (3, [1, 2], false), (3, [1, 2, 3], true),
      (4, [1, 2], false), (4, [1, 2, 3], true), (5, [1, 2, 3], false), (5, [1, 2, 3, 4], true),
      (8, [1, 2, 3, 4, 5], false), (8, [1, 2, 3, 4, 5, 6], true),
    ] as [(all: UInt64, gone: [UInt64], outage: Bool)]) func share(_ all: UInt64, _ gone: [UInt64], _ isOutage: Bool)
  {
    var scene = Self.scene(of: all)
    for agent in gone { scene.publish(.offline, agent) { $0.offlineReason = .unreachable } }
    scene.live(130)
    let own = Set(gone.map { AlertKey.of(.borderRouterOffline, $0) })
    #expect(scene.alarms == (isOutage ? [Self.outage] : own))
    let facts = scene.alert(.homeOffline)?.facts
    #expect(facts?.message == (isOutage ? .awayTogether(routers: gone.count, of: Int(all)) : nil))
  }

  @Test("Routers that fall silent one after another are one alert, and none has one of its own") func silent() {
    var scene = Self.scene(of: 4)
    let began = scene.now
    for agent: UInt64 in 1...4 {
      scene.publish(.heartbeat, agent)
      scene.live(20)
    }
    var raised: [AlertName] = []
    for _ in 0..<500 {
      scene.tick()
      raised += scene.output.alerts.filter { $0.value == .raised }.map(\.key)
    }
    #expect(raised == [.homeOffline])
    #expect(scene.alert(.homeOffline)?.facts.names == .init(first: scene.names(1, 2, 3), count: 4))
    #expect(scene.alert(.homeOffline)?.facts.since == began.adding(seconds: 301))
  }

  @Test("Where it begins with a change of names, the alerts of its routers end as well") func names() {
    var scene = Self.scene(of: 4)
    scene.publish(.offline, 1)
    scene.live(125)
    #expect(scene.alarms == Self.offline(1))
    for agent: UInt64 in 2...4 { scene.publish(.offline, agent) }
    scene.wait(seconds: 31)
    scene.prefer(.of(1, at: 9))
    #expect(scene.alarms.contains(Self.outage))
    #expect(scene.alarms.isDisjoint(with: Self.offline(1, 2, 3, 4)))
  }

  @Test("It ends when routers come back, and who stays away has an alert of its own then") func back() {
    var scene = Self.scene(of: 5)
    for agent: UInt64 in 1...5 { scene.publish(.offline, agent) }
    scene.live(31)
    scene.publish(.heartbeat, 1)
    scene.tick()
    #expect(scene.alarms == [Self.outage])
    #expect(scene.alert(.homeOffline)?.facts.message == .awayTogether(routers: 4, of: 5))
    scene.publish(.heartbeat, 2)
    scene.tick()
    #expect(scene.alarms == [])
    scene.publish(.heartbeat, 3)
    scene.live(60)
    scene.publish(.heartbeat, 4)
    #expect(scene.alarms == [])
    scene.live(60)
    #expect(scene.alarms == Self.offline(5))
  }

  @Test("An alert that fires already ends with that of the home, and none is missing between the two") func replaced() {
    var scene = Self.scene(of: 3)
    scene.publish(.offline, 1)
    scene.live(121)
    #expect(scene.alarms == Self.offline(1))
    scene.publish(.offline, 2)
    scene.publish(.offline, 3)
    scene.live(29)
    #expect(scene.alarms == Self.offline(1))
    scene.live(2)
    #expect(scene.alarms == [Self.outage])
  }

  @Test("Who was away before keeps its alert, and who goes later belongs to those who are away") func others() {
    var scene = Self.scene(of: 9)
    scene.publish(.offline, 9)
    scene.live(700)
    for agent: UInt64 in 1...7 { scene.publish(.offline, agent) }
    scene.live(31)
    #expect(scene.alarms == Self.offline(9).union([Self.outage]))
    scene.pass(seconds: 10_000)
    scene.publish(.offline, 8)
    scene.live(200)
    #expect(scene.alarms == Self.offline(9).union([Self.outage]))
    #expect(scene.alert(.homeOffline)?.facts.message == .awayTogether(routers: 8, of: 8))
  }

  @Test("Routers that go far apart each have their own") func apart() {
    var scene = Self.scene(of: 2)
    scene.publish(.offline, 1)
    scene.live(601)
    scene.publish(.offline, 2)
    scene.live(121)
    #expect(scene.alarms == Self.offline(1, 2))
  }

  @Test(
    "A router that has answered is not away: it says that Thread is stopped, or is frozen",
    arguments: [OfflineReason.stopped, .frozen, .untrusted]) func answered(_ reason: OfflineReason)
  {
    var scene = Self.scene(of: 2)
    for agent: UInt64 in 1...2 { scene.publish(.offline, agent) { $0.offlineReason = reason } }
    scene.live(31)
    #expect(scene.alarms == Self.offline(1, 2))
  }

  @Test("Records that go from the local network count, and those of visitors do not") func seen() {
    var scene = Self.scene(of: 1)
    scene.see(.of(1), .of(2), .of(3), .of(4, on: 7))
    scene.handle(.acceptNetwork(7, isAccepted: true))
    scene.see(.of(4, on: 7))
    scene.live(31)
    #expect(scene.alarms == [Self.outage])
    #expect(scene.alert(.homeOffline)?.facts.message == .awayTogether(routers: 3, of: 3))
  }

  @Test("It goes on over a restart, and a clock that is set back changes nothing", arguments: [0, -86_400])
  func restart(_ jump: Int) throws {
    var scene = Self.scene(of: 3)
    for agent: UInt64 in 1...3 { scene.publish(.offline, agent) }
    scene.live(31)
    scene.wait(seconds: jump)
    if jump != 0 { scene.handle(.clockJumped(by: Int64(jump) * 1_000)) }
    var read = Home(rules: scene.rules)
    for router in scene.home.routers { _ = try read.load(try #require(scene.home.record(.router(router.agent)))) }
    _ = try read.load(try #require(scene.home.record(.home)))
    _ = try read.load(try #require(scene.home.record(.alert(Self.outage))))
    read.finishLoading()
    scene.home = read
    #expect(scene.handle(.started).events.isEmpty)
    scene.live(300)
    #expect(scene.alarms == [Self.outage])
  }

  @Test("The routers of a home are looked at once for each change") func once() {
    var scene = Self.scene(of: 5)
    for agent: UInt64 in 1...4 { scene.publish(.offline, agent) }
    scene.live(31)
    #expect(scene.alarms == [Self.outage])
    scene.publish(.heartbeat, 5) { $0.thread.state = .detached }
    #expect(scene.home.work == 5)
  }

  @Test("In a home of many it is found with the tick") func many() {
    var scene = Self.scene(of: 100, hold: 0)
    for agent: UInt64 in 1...75 { scene.publish(.offline, agent) }
    #expect(scene.alert(.homeOffline) == nil)
    scene.tick()
    #expect(scene.alarms == [Self.outage])
  }
}

extension HomeScene {
  fileprivate func names(_ agents: UInt64...) -> [String] { agents.map { BorderAgentID.number($0).description } }
}
