import Testing

@testable import Home

/// What one event of a login costs does not grow with the home: everybody's messages wait for it.
@Suite(.serialized) struct WorkTests {
  private static let (few, many) = (10, 10_000)
  /// What a home of many may cost more than one of few. What looks at all of them costs a thousand times as much; a
  /// machine that is busy takes a few times as long for either.
  private static let factor = 100.0

  /// All but two routers are one login's.
  private static func home(of count: Int) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      $0.settings.routersPerTeam = many
      $0.settings.routersPerHome = many
    }
    for agent in 1...UInt64(count - 2) {
      scene.announce(agent, .of(1, at: 5)) { $0.accessPoint = agent == 2 ? "ap" : "mesh" }
    }
    for agent in UInt64(count - 1)...UInt64(count) { scene.announce(agent, .of(1, at: 5), from: "other") }
    scene.enroll("signer")
    scene.tick()
    _ = scene.home.takeChanges()
    return scene
  }

  private static let scenes = [few: home(of: few), many: home(of: many)]

  /// What is open while the event comes.
  struct Open: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let begin: @Sendable (inout HomeScene) -> Void

    init(_ name: String, _ begin: @escaping @Sendable (inout HomeScene) -> Void) {
      (testDescription, self.begin) = (name, begin)
    }
  }

  private static let open = [
    Open("nothing") { _ in }, Open("PreferredKeyDisputed") { $0.announce(1, .of(1, key: 2, at: 6)) },
    Open("PreferredKeyDisputed by all of a team") { scene in
      for router in scene.home.routers where router.user == "otbr" {
        scene.announce(router.agent.numbers.high, .of(1, key: 2, at: 6))
      }
    }, Open("PreferredNetworkChanged") { $0.announce(1, .of(1, at: 6, channel: 20)) },
    Open("HomeMoved") { scene in
      for router in scene.home.routers {
        scene.announce(router.agent.numbers.high, .of(2, key: 2), from: router.user ?? "otbr")
      }
    }, Open("PreferredNetworkMismatch of all") { $0.prefer(.of(9, key: 9)) },
    Open("NoPreferredNetwork") { $0.command(.forgetPreferred) },
    Open("NetworkSplit") { scene in
      for agent: UInt64 in 3...4 {
        scene.publish(.heartbeat, agent) { $0.thread.state = .leader }
        scene.tick()
      }
      for agent: UInt64 in 3...4 { scene.publish(.heartbeat, agent) { $0.thread.state = .leader } }
    },
    Open("BorderRouterOffline of all") { scene in
      for router in scene.home.routers {
        scene.publish(.offline, router.agent.numbers.high, from: router.user ?? "otbr")
      }
    },
    Open("HomeAssistantDiffers") { scene in
      // As many as a home has with the default of `limits.routers`.
      for number in 1...UInt64(min(scene.home.routers.count, 1_000)) {
        scene.share(.of(number + 9), isPreferred: true, from: ExactName("user-\(number)"))
      }
    },
  ]

  private typealias Event = (name: String, send: @Sendable (inout HomeScene, UInt64) -> Void)

  /// - Parameter send: with a number that is another one each time.
  private static let events: [Event] = [
    ("same keys", { $0.announce(5, .of(1, at: $1, channel: UInt32(11 + $1 % 16))) }),
    ("claim", { $0.announce(5, .of(1, key: $1, at: $1)) }),
    ("rename", { scene, number in scene.announce(5) { $0.name = "name \(number)" } }),
    ("another network", { $0.announce(5, .of($1)) }),
    ("is elsewhere", { s, n in s.publish(.heartbeat, 5) { $0.thread.network = .number(n) } }),
    ("leads", { scene, _ in scene.publish(.heartbeat, 5) { $0.thread.state = .leader } }),
    ("offline", { scene, _ in scene.publish(.offline, 5) }), ("leaves", { scene, _ in scene.publish(.leave, 5) }),
    ("new id at the limits", { $0.announce($1 + 1_000_000, .of(7)) }),
    (
      "new id after one left",
      {
        $0.publish(.leave, 5)
        $0.announce($1 + 1_000_000, .of(7))
      }
    ), ("new id of a new login", { $0.announce($1 + 1_000_000, .of(7), from: ExactName("u\($1)")) }),
    ("ssid", { scene, number in scene.publish(.ssid, 5) { $0.ssid = "ssid \(number)" } }),
    ("ssid of an access point", { $0.rename("ap", $1) }), ("ssid of a mesh", { $0.rename("mesh", $1) }),
    ("shares", { $0.share(.of(1, key: $1, at: $1)) }),
    ("prefers another one", { $0.share(.of($1), isPreferred: true) }),
    ("store request", { $0.ask(.storeCredentials(5, .of(1, at: $1)), by: .login("otbr")) }),
    ("delete request", { scene, _ in scene.ask(.deleteCredentials(5), by: .login("otbr")) }),
    ("message that was sent", { scene, number in scene.handle(.delivered(message: number)) }),
  ]

  @Test(
    "An event costs with 10,000 routers at most a few times what it costs with 10, whatever alert is open",
    arguments: open) func factor(_ open: Open) throws
  {
    var costs: [Int: [String: Duration]] = [:]
    for (count, base) in Self.scenes {
      var scene = base
      open.begin(&scene)
      scene.tick()
      _ = scene.home.takeChanges()
      for event in Self.events { costs[count, default: [:]][event.name] = Self.cost(event, scene) }
    }
    var worst = (name: "", factor: 0.0)
    for event in Self.events {
      let few = try #require(costs[Self.few]?[event.name])
      let many = try #require(costs[Self.many]?[event.name])
      let factor = many / few
      #expect(factor < Self.factor, "\(event.name) while \(open.testDescription): \(few), \(many)")
      if factor > worst.factor { worst = (event.name, factor) }
    }
    print("work while \(open.testDescription): factor \(worst.factor) at most (\(worst.name))")
  }

  /// The least time of several: others use the processor, too. Snapshots of the home are kept, as by readers.
  private static func cost(_ event: Event, _ scene: HomeScene) -> Duration {
    var scene = scene
    var best = Duration.seconds(1_000)
    for number in 100..<UInt64(112) {
      let snapshot = scene.home
      let began = ContinuousClock.now
      event.send(&scene, number)
      _ = scene.home.takeChanges()
      best = min(best, began.duration(to: .now))
      withExtendedLifetime(snapshot) {}
    }
    return best
  }

  // MARK: Homes of many

  /// More routers than a home has that settles all with each event.
  private static func large(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      $0.settings.routersPerTeam = 200
      change(&$0)
    }
    scene.announce(1...99, .of(1))
    scene.announce(100, .of(1), from: "other")
    scene.tick()
    return scene
  }

  @Test("In a home of many the tick settles what its events have asked for, and is due until then") func tick() {
    var scene = Self.large()
    let moved = DatasetSummary.of(1, at: 2, channel: 20)
    scene.announce(1, moved)
    #expect(scene.preferred == moved && scene.due() ?? 1 <= 0)
    #expect(scene.alert(.staleDataset, 2) == nil)
    scene.tick()
    #expect(scene.alarms.count { $0.name == .staleDataset } == 99)
    #expect(scene.alert(.preferredNetworkChanged)?.facts.names.count == 99)
    #expect(scene.due() ?? 1 > 0)
    scene.announce(2, .of(1, key: 2, at: 9))
    #expect(scene.preferred == moved && scene.alert(.preferredKeyDisputed) == nil)
    scene.tick()
    #expect(scene.alarms.contains(.of(.preferredKeyDisputed)))
    scene.announce(100, .of(1, key: 2, at: 9), from: "other")
    #expect(scene.preferred == moved)
    scene.tick()
    #expect(scene.preferred == .of(1, key: 2, at: 9))
    #expect(scene.preferredChange?.cause == .confirmed(by: 100))
  }

  @Test("In a home of many, a network that is preferred by its id alone gets credentials with the tick") func named() {
    var scene = Self.large()
    scene.see(.of(150, on: 8))
    scene.prefer(network: 8)
    #expect(scene.preferred?.hasCredentials == false)
    scene.announce(101, .of(8), from: "a")
    scene.announce(102, .of(8), from: "b")
    #expect(scene.preferred?.hasCredentials == false)
    scene.tick()
    #expect(scene.preferred == .of(8))
  }

  @Test("Who makes the home look at all of it is charged for that, once until the tick") func charged() {
    var scene = Self.large()
    scene.announce(1) { $0.name = "Attic" }
    #expect(scene.home.work == 0)
    scene.announce(1, .of(1, at: 2, channel: 20))
    #expect(scene.home.work >= 100)
    scene.announce(1, .of(1, at: 3, channel: 21))
    #expect(scene.home.work == 0)
  }

  @Test("A home is full at its limit: the id that came last makes room, and who was there before stays") func full() {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      $0.settings.routersPerHome = 20
    }
    scene.announce(1...3, .of(1), from: "home")
    scene.announce(4, .of(2), from: "guest")
    for agent in 100..<UInt64(2_100) {
      scene.wait(seconds: 1)
      let output = scene.announce(agent, .of(agent, key: agent), from: ExactName("user-\(agent)"))
      #expect(output.rejection == nil)
    }
    #expect(scene.home.routers.count == 20)
    #expect((1...4).allSatisfy { scene.router($0) != nil } && scene.router(2_099) != nil)
    #expect(scene.output.audit.first == .routerRemoved(2_098, team: "user-2098", .forHome))
    #expect(scene.output.secrets.first == SecretMove(to: .router(2_098), from: .nothing))
    #expect(scene.output.types(of: 2_098) == .left)
    #expect(scene.home.alerts.count < 100, "nothing is left of who made room")
    // Of members none makes room.
    scene.rules.settings.routersPerHome = 3
    scene.handle(.remove(4))
    for router in scene.home.routers where router.agent.numbers.high >= 100 { scene.handle(.remove(router.agent)) }
    #expect(scene.announce(5, .of(5, key: 5), from: "x").rejection == .homeIsFull(3))
    #expect(scene.ask(.storeCredentials(5, .of(5, key: 5)), by: .login("x")) == .refused(.homeIsFull(3)))
    scene.share(.of(1), from: "a")
    scene.share(.of(2), from: "b")
    scene.share(.of(3), from: "c")
    #expect(scene.share(.of(4), from: "d").rejection == .tooManyShared(3))
  }
}

extension WorkTests {
  @Test("Routers that are only seen make no room in a home that is full, and count once announced") func seen() {
    var scene = HomeScene { $0.settings.routersPerHome = 2 }
    scene.announce(1...2, .of(1))
    scene.see(.of(50, on: 8), .of(51, on: 8))
    for agent: UInt64 in [3, 50] { #expect(scene.announce(agent, .of(3), from: "x").rejection == .homeIsFull(2)) }
    #expect(scene.router(50) != nil && scene.router(51) != nil)
  }
}

extension HomeScene {
  fileprivate mutating func rename(_ accessPoint: ExactName, _ number: UInt64) {
    var message = RouterMessage(.ssid, .accessPoint(accessPoint))
    message.ssid = "ssid \(number)"
    handle(.message(message, from: "otbr"))
  }
}
