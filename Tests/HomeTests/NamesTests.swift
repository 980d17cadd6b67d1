import Testing
import ThreadDataset

@testable import Home

@Suite struct ExactNameTests {
  private static let texts = [
    "", "a", "ab", "b", "e\u{301}", "\u{E9}", "router-1", "router-2", "router-12", "router-12345678", "router-12345679",
    "router-1234567890", String(repeating: "x", count: 40), String(repeating: "x", count: 39) + "y",
  ]

  @Test("A name counts byte by byte, whatever else Swift takes for the same text") func bytes() {
    for one in Self.texts {
      let name = ExactName(one)
      for other in Self.texts {
        let (mine, others) = (Array(one.utf8), Array(other.utf8))
        // Made of bytes, so that no two of them are one text in memory.
        let another = ExactName(String(decoding: others, as: UTF8.self))
        #expect((name == another) == (mine == others), "\(one) \(other)")
        #expect((name < another) == mine.lexicographicallyPrecedes(others), "\(one) \(other)")
        if mine == others { #expect(Set([name]).contains(another), "\(one)") }
      }
    }
    #expect(Set(Self.texts.map { ExactName($0) }).count == Self.texts.count)
  }
}

/// How routers and networks that have one name are named in sentences.
@Suite struct NamesTests {
  private static let home = DatasetSummary.of(1, name: "Home")
  private static let long = String(repeating: "x", count: 30)

  /// Router 1 is on network 2, and router 9 on the preferred network 1.
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      $0.settings.routersPerTeam = 200
      change(&$0)
    }
    scene.announce(9, home)
    scene.announce(1, .of(2)) { $0.name = "Attic" }
    return scene
  }

  private static func mismatch(_ scene: HomeScene) -> AlertFacts? { scene.alert(.preferredNetworkMismatch, 1)?.facts }

  @Test(
    "Two routers have ids in sentences where the names look the same",
    arguments: [
      ("Attic", true), (" Attic\u{200B}", true), ("Attic ", true), ("attic", false), ("Attic 2", false),
      ("\"Attic\"", false), ("Attic~", false), (nil, false), ("0000000000000001", false),
    ] as [(String?, Bool)]) func routers(_ other: String?, _ areAlike: Bool)
  {
    var scene = Self.scene()
    scene.announce(2, Self.home) { $0.name = other }
    #expect(scene.router(2)?.name == other)
    #expect(scene.home.hasNamesake(BorderAgentID.number(1), "Attic") == areAlike)
    #expect(scene.home.shownName(1) == (areAlike ? #""Attic" (0000000000000001)"# : #""Attic""#))
    #expect(Self.mismatch(scene)?.routerNeedsID == areAlike)
    let listed = scene.home.routers.map { (agent: $0.agent, name: $0.name) }
    #expect(Home.namesakes(among: listed) == (areAlike ? [1, 2] : []))
  }

  @Test(
    "Of a long name both ends are shown, so only the same ends look the same",
    arguments: [("a", "b", false), ("a", "a", true)]) func longNames(_ one: String, _ other: String, _ areAlike: Bool)
  {
    var scene = Self.scene()
    scene.announce(1, .of(2)) { $0.name = "Hub \(Self.long) \(one)" }
    scene.announce(2, .of(2)) { $0.name = "Hub \(Self.long) \(other)" }
    #expect(scene.home.hasNamesake(1, scene.router(1)?.name) == areAlike)
  }

  @Test("An alert has the id as soon as another router is named so, and as long as it is listed") func follows() {
    var scene = Self.scene()
    #expect(Self.mismatch(scene)?.routerNeedsID == false)
    _ = scene.home.takeChanges()
    let output = scene.announce(2, Self.home, from: "other") { $0.name = "Attic" }
    #expect(Self.mismatch(scene)?.routerNeedsID == true)
    #expect(output.alerts[.preferredNetworkMismatch] == .updated)
    #expect(scene.home.takeChanges().routers == [1, 2], "its device has another name")
    scene.announce(3, Self.home) { $0.name = "Attic" }
    #expect(scene.home.takeChanges().routers == [3], "two had their ids before")
    scene.publish(.leave, 3)
    scene.announce(2, Self.home, from: "other") { $0.name = "Cellar" }
    #expect(Self.mismatch(scene)?.routerNeedsID == false)
  }

  @Test("The name that a person gives counts in alerts and events, and for who looks named so") func givenName() {
    var scene = Self.scene()
    scene.announce(2, Self.home) { $0.name = "Cellar" }
    _ = scene.home.takeChanges()
    #expect(scene.handle(.renameRouter(1, "Cellar")).alerts == [.preferredNetworkMismatch: .updated])
    #expect(Self.mismatch(scene)?.routerName == "Cellar" && Self.mismatch(scene)?.routerNeedsID == true)
    #expect(scene.home.takeChanges().routers == [1, 2])
    // What it calls itself is not shown, and no other one is mistaken for it.
    #expect(!scene.home.hasNamesake(2, "Attic"))
    scene.announce(1, .of(2)) { $0.name = "Loft" }
    #expect(scene.home.shownName(1) == #""Cellar" (0000000000000001)"#)
    #expect(scene.handle(.renameRouter(1, nil)).alerts == [.preferredNetworkMismatch: .updated])
    #expect(scene.home.shownName(1) == #""Loft""# && !scene.home.hasNamesake(2, "Cellar"))
  }

  /// What brings another network of the name that the one of router 1 has.
  private static let sources: [(String, @Sendable (inout HomeScene) -> Void)] = [
    ("a router", { $0.announce(3, .of(7, name: "net-2"), from: "b") }),
    ("a record", { $0.see(.of(3, on: 7) { $0.networkName = "net-2" }) }),
    ("a login", { $0.share(.of(7, name: "net-2")) }), ("the preferred one", { $0.prefer(.of(7, name: "net-2")) }),
    (
      "a former one",
      {
        $0.prefer(.of(7, name: "net-2"))
        $0.prefer(.of(8))
      }
    ),
  ]

  @Test("A network has its id where another one that is known has its name", arguments: sources.indices) func networks(
    _ index: Int
  ) {
    var scene = Self.scene()
    #expect(Self.mismatch(scene)?.network?.needsID == false)
    Self.sources[index].1(&scene)
    #expect(Self.mismatch(scene)?.network?.needsID == true, "\(Self.sources[index].0)")
    #expect(Self.mismatch(scene)?.preferred?.needsID == (Self.sources[index].0 == "the preferred one"))
  }

  @Test("In a home of many the tick tells networks apart, and who asks for that is charged once") func many() {
    var scene = Self.scene()
    scene.announce(20...99, Self.home)
    scene.tick()
    scene.announce(3, .of(7, name: "net-2"))
    #expect(Self.mismatch(scene)?.network?.needsID == false && scene.home.work > 0)
    scene.announce(4, .of(7, name: "net-2"))
    #expect(scene.home.work == 0)
    scene.tick()
    #expect(Self.mismatch(scene)?.network?.needsID == true)
  }

  @Test("A network that replaces one of the same name has its id, also when that one is forgotten") func changed()
    throws
  {
    var scene = Self.scene()
    scene.prefer(.of(5, name: "Home"))
    for _ in 1...2 {
      let change = try #require(scene.preferredChange)
      #expect(change.from.shown == #""Home" (0000000000000001)"#)
      #expect(change.to.shown == #""Home" (0000000000000005)"#)
      scene.publish(.leave, 9)
      scene.command(.forgetNetwork(.network(1)))
      scene.tick()
    }
  }

  // MARK: The name of the preferred network

  @Test("A network that only has the preferred one's name is a warning") func foreign() {
    var scene = Self.scene()
    for (name, severity) in [("Home", .warning), ("guest", .info), ("H\u{200B}ome ", .warning)]
      as [(String, AlertSeverity)]
    {
      scene.see(.of(3, on: 7) { $0.networkName = name })
      let key = AlertKey(.preferredNetworkMismatch, .router(3))
      #expect(scene.alert(.preferredNetworkMismatch, 3).map { key.severity($0.facts) } == severity)
    }
  }

  @Test("An accepted network that takes the preferred one's name is not accepted any more") func accepted() {
    var scene = Self.scene()
    func seen(as name: String) {
      scene.see(.of(3, on: 7) { $0.networkName = name }, .of(4, on: 7) { $0.networkName = "guest" })
    }
    seen(as: "guest")
    scene.handle(.acceptNetwork(7, isAccepted: true))
    let mismatches = [3, 4].map { AlertKey(.preferredNetworkMismatch, .router(.number($0))) }
    #expect(scene.alarms.isDisjoint(with: mismatches))
    _ = scene.home.takeChanges()
    seen(as: "Home")
    #expect(scene.home.accepted.isEmpty && scene.alarms.isSuperset(of: mismatches))
    let changes = scene.home.takeChanges()
    #expect(changes.records.contains(.home) && changes.networks.contains(7))

    // A person who knows that accepts it again, and it stays so.
    scene.handle(.acceptNetwork(7, isAccepted: true))
    seen(as: "Home")
    #expect(scene.home.accepted == [7] && scene.alarms.isDisjoint(with: mismatches))
    // The preferred network takes the name of an accepted one.
    seen(as: "guest")
    scene.prefer(.of(1, at: 2, name: "guest"))
    #expect(scene.home.accepted.isEmpty)
  }

  // MARK: Under a former id

  @Test("Of a router that has another id now, a dispute names the former one as its own") func former() {
    for (name, departed) in [("Attic", #""Attic", under its former id 0000000000000002,"#), ("Cellar", #""Cellar""#)] {
      var scene = HomeScene { $0.settings.alertsHold = 0 }
      scene.announce(2, Self.home) { $0.name = name }
      scene.announce(1, Self.home) { $0.name = "Attic" }
      scene.publish(.leave, 2)
      scene.announce(1, .of(1, key: 2, at: 2))
      let message = scene.alert(.preferredKeyDisputed)?.facts.message
      #expect(message == .keysDisputed(claimed: 2, current: 1, departed: .init([departed]), hasDamage: false))
    }
  }

  // MARK: While an order is carried out

  @Test("What an agent stops while it carries out an order has the words of the order") func order() throws {
    for (state, shown, adoption) in [(.sent, .agreed, .agreed), (.timeout, .timeout, nil)]
      as [(AdoptionState, AdoptionState, AdoptionState?)]
    {
      var scene = try HomeScene(in: state)
      #expect(Self.mismatch(scene)?.adoption == shown)
      scene.publish(.heartbeat, 1, from: "anna") { $0.thread.state = .detached }
      #expect(scene.alert(.routerDetached, 1)?.facts.adoption == adoption)
      scene.publish(.offline, 1, from: "anna") { $0.offlineReason = .stopped }
      #expect(scene.alert(.borderRouterOffline, 1)?.facts.adoption == adoption)
      scene.publish(.offline, 1, from: "anna") { $0.offlineReason = .unreachable }
      #expect(scene.alert(.borderRouterOffline, 1)?.facts.adoption == nil)
    }
  }
}
