import Testing

@testable import Home

/// Networks whose border routers do not reach each other by radio.
@Suite struct NetworkSplitTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene()
    scene.announce(9, .of(1))
    scene.announce(8, .of(1)) { $0.name = "Attic" }
    return scene
  }

  /// A split is looked for with the next tick, which is due at once.
  private static func look(_ scene: inout HomeScene) {
    #expect(scene.due().map { $0 <= 0 } == true)
    scene.tick()
  }

  @Test("Two partitions of the preferred network for longer than the hold are an alert, one is none") func partitions()
    throws
  {
    var scene = Self.scene()
    scene.see(.of(1), .of(2))
    scene.pass(seconds: 31)
    #expect(scene.alarms == [])
    scene.see(.of(1), .of(2, partition: 8))
    scene.pass(seconds: 29)
    #expect(scene.alarms == [])
    scene.pass(seconds: 1)
    #expect(scene.alarms == [.split(1)])
    let facts = try #require(scene.home.alerts[.split(1)]?.facts)
    let parts = [AlertFacts.Names([#""seen 1""#]), .init([#""seen 2""#])]
    #expect(facts.message == .split(parts, parts: 2) && facts.network == .init(.of(1)))
    #expect(facts.trigger == .mdns)
    scene.see(.of(1), .of(2))
    #expect(scene.alarms == [])
  }

  @Test("A split that ends within the hold is no alert, and one whose routers are gone is over") func ends() {
    var scene = Self.scene()
    scene.see(.of(1), .of(2, partition: 8))
    scene.pass(seconds: 10)
    scene.see(.of(1), .of(2))
    scene.pass(seconds: 60)
    #expect(scene.alarms == [])
    scene.see(.of(1), .of(2, partition: 8))
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.split(1)])
    scene.see(.of(1))
    #expect(!scene.alarms.contains(.split(1)))
  }

  @Test("Ids of partitions that are each other's bytes reversed are one partition") func byteOrder() {
    for (other, isSplit) in [(0x7856_3412, false), (0x1234_5679, true), (0x3412_7856, true)] as [(UInt32, Bool)] {
      var scene = Self.scene()
      scene.see(.of(1, partition: 0x1234_5678), .of(2, partition: other))
      scene.pass(seconds: 31)
      #expect(scene.alarms.contains(.split(1)) == isSplit)
    }
  }

  @Test("A network that is neither preferred nor accepted may be split") func foreign() {
    var scene = Self.scene()
    scene.see(.of(1, on: 2), .of(2, on: 2, partition: 8))
    scene.pass(seconds: 31)
    #expect(!scene.alarms.contains(.split(2)))
    scene.handle(.acceptNetwork(2, isAccepted: true))
    Self.look(&scene)
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.split(2)])
    scene.handle(.acceptNetwork(2, isAccepted: false))
    Self.look(&scene)
    #expect(!scene.alarms.contains(.split(2)))
  }

  @Test("A router with another key is on another network, by its record and by what it reports") func otherKeys() {
    for (isSeen, key) in [(true, 1), (true, 2), (false, 1), (false, 2)] as [(Bool, UInt64)] {
      var scene = Self.scene()
      scene.announce(8, .of(1, key: key, at: 2))
      if isSeen {
        scene.see(.of(8), .of(9, partition: 8))
      } else {
        for _ in 1...2 {
          for agent: UInt64 in [8, 9] { Self.lead(agent, &scene) }
          scene.tick()
        }
      }
      scene.pass(seconds: 31)
      #expect(scene.alarms.contains(.split(1)) == (key == 1), "\(isSeen) \(key)")
    }
  }

  @Test("Of an accepted network no key is known to be right: whoever reports one hides no split")
  func otherKeysElsewhere() {
    for key: UInt64 in 1...2 {
      var scene = Self.scene()
      scene.handle(.acceptNetwork(2, isAccepted: true))
      scene.announce(6, .of(2, key: key))
      scene.announce(7, .of(2, at: 2))
      scene.see(.of(6, on: 2), .of(7, on: 2, partition: 8))
      scene.pass(seconds: 31)
      #expect(scene.alarms.contains(.split(2)), "\(key)")
    }
  }

  @Test("Of a part that nobody has accepted the alert says that it may have another key") func unaccepted() {
    var scene = Self.scene()
    func others() -> AlertFacts.Names? { scene.home.alerts[.split(1)]?.facts.otherNames }
    scene.see(.of(8))
    scene.wait(seconds: 3_601)
    scene.see(.of(8), .of(7, partition: 8))
    scene.pass(seconds: 30)
    #expect(scene.alarms.contains(.split(1)) && others() == AlertFacts.Names([#""seen 7""#]))
    scene.handle(.acceptRouter(7))
    Self.look(&scene)
    #expect(scene.alarms.contains(.split(1)) && others() == AlertFacts.Names())
  }

  @Test("Many routers of many parts: three of each are named, and three parts") func many() {
    var scene = Self.scene()
    scene.handle(
      .sightings(Sightings((11...14).map { .of($0, partition: 1) } + (21...24).map { .of($0, partition: UInt32($0)) })))
    guard case .split(let parts, 5) = scene.home.alerts[.split(1)]?.facts.message else {
      Issue.record("five parts")
      return
    }
    #expect(
      parts == [
        AlertFacts.Names(first: [11, 12, 13].map { "\"seen \($0)\"" }, count: 4), .init([#""seen 21""#]),
        .init([#""seen 22""#]),
      ])
  }

  @Test("What routers report of their partition counts, whatever their records say") func reported() {
    var scene = Self.scene()
    func report(_ partitions: UInt32..., state: ThreadState = .router) {
      for (agent, partition) in zip([8, 9] as [UInt64], partitions) {
        scene.publish(.heartbeat, agent) { $0.thread = .init(state: state, network: 1, partition: partition) }
      }
    }
    report(1, 1)
    scene.see(.of(8, partition: 5), .of(9, partition: 6))
    scene.pass(seconds: 40)
    #expect(scene.alarms == [] && scene.router(9)?.shownPartition == 1)
    report(1, 2)
    Self.look(&scene)
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.split(1)])
    report(1, 2, state: .detached)
    #expect(scene.router(9)?.shownPartition == nil)
    scene.publish(.announce, 9)
    #expect(scene.router(9)?.shownPartition == 6, "its record's, where it reports none")
  }

  // MARK: Without mDNS

  private static func lead(_ agent: UInt64, _ scene: inout HomeScene, _ state: ThreadState? = .leader) {
    scene.publish(.heartbeat, agent) { $0.thread = .init(state: state, network: state.map { _ in 1 }) }
  }

  @Test("Two routers that both report to lead the network are an alert, until one does not") func leaders() throws {
    var scene = Self.scene()
    for _ in 1...2 {
      for agent: UInt64 in [8, 9] { Self.lead(agent, &scene) }
      Self.look(&scene)
    }
    scene.pass(seconds: 31)
    #expect(scene.alarms == [.split(1)])
    #expect(scene.home.alerts[.split(1)]?.facts.trigger == .heartbeat)
    Self.lead(8, &scene, .router)
    Self.look(&scene)
    #expect(scene.alarms == [])
  }

  @Test("A split that is over when its hold is, is not raised") func overInTime() {
    var scene = Self.scene()
    for _ in 1...2 {
      for agent: UInt64 in [8, 9] { Self.lead(agent, &scene) }
      scene.tick()
    }
    #expect(scene.home.alerts[.split(1)]?.phase == .held)
    Self.lead(8, &scene, .router)
    scene.pass(seconds: 31)
    #expect(scene.home.alerts[.split(1)] == nil)
  }

  @Test("A leader that reports nothing more, and the one that takes its place, are no split") func successor() {
    var scene = Self.scene()
    Self.lead(9, &scene)
    scene.pass(seconds: 12)
    Self.lead(8, &scene)
    scene.pass(seconds: 60)
    // A heartbeat without a state does not say that it still leads.
    Self.lead(9, &scene, nil)
    scene.pass(seconds: 60)
    #expect(scene.home.alerts[.split(1)] == nil)
    Self.lead(9, &scene)
    scene.tick()
    #expect(scene.home.alerts[.split(1)]?.phase == .held)
  }

  @Test("A leader that reports for the last time when the next one begins is no split") func sameTime() {
    var scene = Self.scene()
    Self.lead(9, &scene)
    scene.pass(seconds: 12)
    Self.lead(9, &scene)
    Self.lead(8, &scene)
    scene.tick()
    Self.lead(8, &scene)
    scene.tick()
    #expect(scene.home.alerts[.split(1)] == nil)
  }

  @Test("Leaders are parts where the times in which they reported so overlap", arguments: 1...40 as ClosedRange<UInt64>)
  func overlap(_ seed: UInt64) throws {
    var random = RandomHome(seed: seed)
    var scene = Self.scene()
    let start = scene.now.milliseconds
    let span = [20, 200, 2_000][Int(seed % 3)]
    let times = (1...8).map { _ in
      let since = Int64.random(in: 0..<Int64(span), using: &random)
      return (since: since, reported: since + .random(in: 0..<40, using: &random))
    }
    let reports = times.enumerated().flatMap { [($0 + 1, $1.since), ($0 + 1, $1.reported)] }
    scene.announce(1...8, .of(1))
    for (agent, time) in reports.sorted(by: { $0.1 < $1.1 }) {
      scene.now = WireTime(milliseconds: start + time)
      Self.lead(UInt64(agent), &scene)
    }
    scene.tick()
    let leading = times.indices.filter { one in
      times.indices.contains {
        $0 != one && times[one].reported > times[$0].since && times[$0].reported > times[one].since
      }
    }
    let message = scene.home.alerts[.split(1)]?.facts.message
    if case .split(_, let parts) = message {
      #expect(parts == leading.count)
    } else {
      #expect(message == nil && leading.isEmpty)
    }
  }

  @Test("Leaders of different networks, and one that is offline, are no split") func others() {
    var scene = Self.scene()
    scene.announce(7, .of(2))
    for _ in 1...2 {
      Self.lead(9, &scene)
      scene.publish(.heartbeat, 7) { $0.thread = .init(state: .leader, network: 2) }
      scene.tick()
    }
    #expect(scene.home.alerts[.split(1)] == nil)
    for _ in 1...2 {
      for agent: UInt64 in [8, 9] { Self.lead(agent, &scene) }
      scene.wait(seconds: 1)
    }
    scene.publish(.offline, 8)
    scene.tick()
    #expect(scene.home.alerts[.split(1)] == nil)
  }
}
