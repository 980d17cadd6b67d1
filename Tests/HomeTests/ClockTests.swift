import Testing

@testable import Home

/// What time brings, when it is due, and a clock that is set.
@Suite struct ClockTests {
  private static let day = 86_400
  private static let year = 365 * day

  private static func scene() -> HomeScene {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.pass(seconds: 40)
    return scene
  }

  /// The clock is set, and no time has passed.
  private static func set(_ scene: inout HomeScene, by seconds: Int) {
    scene.wait(seconds: seconds)
    scene.handle(.clockJumped(by: Int64(seconds) * 1_000))
  }

  @Test("Nothing is due in a home that is at rest") func rest() {
    #expect(Self.scene().due() == nil)
    var scene = HomeScene()
    scene.tick()
    #expect(scene.due() == nil)
  }

  @Test("Silence is due after the limit and a second, as long as everything is received") func silence() {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1)
    #expect(scene.due() == 301 && scene.due(listening: nil) == nil)
    #expect(scene.due(listening: 10) == 301)
    scene.wait(seconds: 1_000)
    #expect(scene.due(listening: 10) == 290)
  }

  @Test("Holds, notices and resolved alerts are due when their time is over") func alerts() {
    var scene = Self.scene()
    scene.publish(.offline, 1)
    #expect(scene.due() == 30)
    scene.pass(seconds: 30)
    #expect(scene.due() == nil)
    scene.publish(.announce, 1)
    #expect(scene.due() == Double(Self.day))
    scene.pass(seconds: Self.day)
    scene.prefer(.of(1, channel: 20))
    scene.pass(seconds: 30)
    #expect(scene.due() == Double(Self.day - 30))
  }

  @Test("A home with adoptions that have come to an end is at rest, until they have another one") func adoptions()
    throws
  {
    for state in AdoptionState.allCases where state.hasFailed {
      var scene = try HomeScene(in: state)
      // What has been denied a moment ago, and alerts that are resolved, have their time.
      scene.wait(seconds: 2 * Self.day)
      scene.tick()
      scene.wait(seconds: 2 * Self.day)
      scene.tick()
      #expect(scene.due() == nil, "\(state)")
      if state == .damagedKeys { scene.rules.canSeal = { true } }
      scene.enroll("anna", fingerprint: "another")
      #expect(scene.due().map { $0 <= 0 } == true, "\(state)")
      scene.tick()
      #expect(scene.router(1)?.adoption?.state != state)
    }
  }

  @Test("What happens to several alerts at once is in the order of their names and subjects") func inOrder() {
    var scene = HomeScene()
    for agent in (1...40 as ClosedRange<UInt64>).reversed() { scene.announce(agent, from: ExactName("user \(agent)")) }
    let keys = scene.pass(seconds: 30).events.compactMap {
      if case .alert(let key, _, .raised, _) = $0 { key } else { nil }
    }
    #expect(keys.count > 40 && keys == keys.sorted())
    #expect(AlertKey(.networkSplit, .user("a")) < AlertKey(.networkSplit, .network(1)))
    #expect(AlertKey(.networkSplit, .user("a")) < AlertKey(.networkSplit, .user("b")))
  }

  @Test("A condition lasts its hold, whether the clock is set meanwhile or not", arguments: [-year, -60, 60, year])
  func hold(_ jump: Int) {
    var scene = Self.scene()
    scene.publish(.offline, 1)
    scene.pass(seconds: 10)
    Self.set(&scene, by: jump)
    scene.tick()
    #expect(scene.alarms == [])
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
  }

  @Test("A notice ends as long after it began, whether the clock is set or not", arguments: [-year, 0]) func notice(
    _ jump: Int
  ) {
    var scene = Self.scene()
    scene.prefer(.of(2))
    Self.set(&scene, by: jump)
    scene.pass(seconds: Self.day - 1)
    #expect(scene.alarms.contains(.of(.preferredNetworkChanged)))
    scene.pass(seconds: 1)
    #expect(scene.alert(.preferredNetworkChanged)?.phase == .resolved)
  }

  @Test("A router that falls silent when the clock is set back by a year is noticed") func silent() {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1)
    Self.set(&scene, by: -Self.year)
    scene.pass(seconds: 301)
    #expect(scene.router(1)?.offlineReason == .silent)
  }

  @Test("A Thread state that began before the clock was set back has begun by now") func state() {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1) { $0.thread.state = .detached }
    Self.set(&scene, by: -Self.year)
    #expect(scene.router(1)?.threadStateSince == scene.now)
  }

  @Test(
    "A router that appears is unknown an hour after the first look, whether the clock was set or not",
    arguments: [-year, 0]) func unknown(_ jump: Int)
  {
    var scene = Self.scene()
    scene.rules.settings.alertsHold = 0
    scene.see()
    Self.set(&scene, by: jump)
    scene.wait(seconds: 3_600)
    scene.see(.of(2))
    #expect(scene.alarms == [.of(.unknownRouter, 2)])
  }

  @Test("What a clock that is set changes is written, and a clock that goes on changes nothing") func written() {
    var scene = Self.scene()
    scene.publish(.offline, 1)
    _ = scene.home.takeChanges()
    Self.set(&scene, by: -Self.year)
    #expect(
      Set(scene.home.takeChanges().records) == [
        .router(1), .alert(.of(.borderRouterOffline, 1)), .alert(AlertKey(.plaintextCredentials, .user("otbr"))),
      ])
    scene.handle(.clockJumped(by: 0))
    #expect(scene.home.takeChanges().isEmpty)
  }

  @Test("A notice of the daemon ends a day after it was published last") func notices() {
    for name in [AlertName.storeDamaged, .discoveryAltered, .stateAltered, .anchorAltered] {
      var scene = HomeScene()
      scene.handle(.condition(name, AlertFacts(.daemon)))
      scene.pass(seconds: Self.day / 2)
      var facts = AlertFacts(.daemon)
      facts.names = .init(["other"])
      #expect(scene.handle(.condition(name, facts)).alerts == [name: .updated])
      scene.pass(seconds: Self.day - 1)
      #expect(scene.alarms == [.of(name)])
      #expect(scene.pass(seconds: 1).alerts == [name: .resolved])
    }
  }

  @Test("Conditions of the daemon begin and end with it, at once") func conditions() {
    var scene = HomeScene()
    #expect(scene.handle(.condition(.sessionLost, AlertFacts(.daemon))).alerts == [.sessionLost: .raised])
    #expect(scene.handle(.condition(.sessionLost, AlertFacts(.daemon))).alerts == [:])
    #expect(scene.handle(.condition(.sessionLost, nil)).alerts == [.sessionLost: .resolved])
  }
}
