import Testing

@testable import Home

/// A member of the preferred network that is one no more still counts against other keys, and a change of keys is
/// named until a person confirms it.
@Suite struct FormerMemberTests {
  private static let day = 86_400
  private static let claim = DatasetSummary.of(1, key: 2, at: 2)

  /// A member of each of two teams.
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      change(&$0)
    }
    scene.announce(1, .of(1), from: "a") { $0.name = "Attic" }
    scene.announce(2, .of(1), from: "b") { $0.name = "Cellar" }
    return scene
  }

  enum End: CaseIterable {
    case leaves, deleted, moves, movesTwice, movesAndLeaves, resetAndAnnounced, claims, isSilent, changesTeam,
      removesRoom
  }

  private static func end(_ end: End, _ scene: inout HomeScene) {
    switch end {
    case .leaves: scene.publish(.leave, 1, from: "a")
    case .deleted: scene.ask(.deleteCredentials(1), by: .login("a"))
    case .moves: scene.announce(1, .of(2), from: "a")
    case .movesTwice:
      scene.announce(1, .of(1, key: 7, at: 2), from: "a")
      scene.announce(1, .of(2), from: "a")
    case .movesAndLeaves:
      scene.announce(1, .of(1, key: 7, at: 2), from: "a")
      scene.publish(.leave, 1, from: "a")
    case .resetAndAnnounced:
      scene.publish(.leave, 1, from: "a")
      scene.announce(1, from: "a")
    case .claims: scene.announce(1, .of(1, key: 7, at: 1), from: "a")
    case .isSilent:
      scene.publish(.heartbeat, 1, from: "a")
      scene.publish(.offline, 1, from: "a")
      scene.pass(seconds: 29 * day)
    case .changesTeam:
      scene.rules.team = { $0 == "a" ? "others" : $0 }
      scene.handle(.started)
      scene.announce(1, .of(2), from: "a")
    case .removesRoom:
      scene.rules.settings.routersPerTeam = 1
      scene.publish(.leave, 1, from: "a")
      scene.announce(9, .of(9), from: "a")
    }
  }

  @Test(
    "However it stops being one, the only member that is left changes the keys alone only after 30 days",
    arguments: End.allCases) func counts(_ end: End)
  {
    var scene = Self.scene()
    Self.end(end, &scene)
    scene.announce(2, Self.claim, from: "b")
    #expect(scene.preferred == .of(1))
    #expect(scene.alarms.contains(.of(.preferredKeyDisputed)))
    guard ![.claims, .isSilent, .changesTeam].contains(end) else { return }
    scene.pass(seconds: 30 * Self.day - 1)
    #expect(scene.preferred == .of(1))
    #expect(scene.due() == 1)
    scene.pass(seconds: 1)
    #expect(scene.preferred == Self.claim)
  }

  @Test("One that comes back with the keys is a member, and counts until 30 days after it left") func comesBack() {
    var scene = Self.scene()
    scene.announce(1, .of(2), from: "a")
    scene.pass(seconds: 29 * Self.day)
    scene.announce(1, .of(1), from: "a")
    scene.publish(.leave, 1, from: "a")
    scene.pass(seconds: 29 * Self.day)
    scene.announce(2, Self.claim, from: "b")
    #expect(scene.preferred == .of(1))
  }

  @Test("Time that was set back does not let it count for longer") func clock() {
    var scene = Self.scene()
    let now = scene.now
    scene.wait(seconds: 365 * Self.day)
    scene.announce(1, .of(2), from: "a")
    scene.announce(2, Self.claim, from: "b")
    scene.now = now
    scene.handle(.clockJumped(by: -365 * 86_400_000))
    scene.pass(seconds: 30 * Self.day)
    #expect(scene.preferred == Self.claim)
  }

  // MARK: What is said of new keys

  /// The keys were changed by the only member.
  private static func changed(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      change(&$0)
    }
    scene.announce(2, .of(1), from: "b") { $0.name = "Cellar" }
    scene.announce(2, claim, from: "b")
    return scene
  }

  private static let byCellar = KeyChange.Reporter(2, name: "Cellar", user: "b")

  @Test("New keys from one reporter are a warning, from two an info") func severity() throws {
    let one = try #require(Self.changed().alert(.preferredNetworkChanged))
    #expect(AlertKey(.preferredNetworkChanged).severity(one.facts) == .warning)
    var scene = Self.scene()
    scene.announce(1, Self.claim, from: "a")
    scene.announce(2, Self.claim, from: "b")
    let two = try #require(scene.alert(.preferredNetworkChanged))
    #expect(AlertKey(.preferredNetworkChanged).severity(two.facts) == .info)
    #expect(
      scene.home.preferred?.keyChange
        == KeyChange(at: scene.now, reporters: [Self.byCellar, KeyChange.Reporter(1, name: "Attic", user: "a")]))
  }

  @Test("A program on this machine is one reporter, whether it stores them or chooses them") func program() throws {
    for request in [HomeRequest.storeCredentials(2, Self.claim), .setPreferred(.dataset(Self.claim))] {
      var scene = HomeScene()
      scene.announce(2, .of(1), from: "b")
      scene.ask(request, by: .program(of: "b"))
      #expect(scene.preferred == Self.claim)
      let alert = try #require(scene.alert(.preferredNetworkChanged))
      #expect(AlertKey(.preferredNetworkChanged).severity(alert.facts) == .warning)
      #expect(scene.home.preferred?.keyChange?.reporters.map(\.user) == [nil])
    }
  }

  @Test(
    "Until a person confirms them, every question about them says when and by whom they were changed",
    arguments: [HomeRequest.getPreferred, .getNetwork(1), .nearbyNetworks]) func question(_ request: HomeRequest) throws
  {
    var scene = Self.changed()
    let at = scene.now
    scene.wait(seconds: 200 * Self.day)
    // Other parameters with the same keys are no confirmation.
    scene.announce(2, .of(1, key: 2, at: 9, channel: 20), from: "b")
    scene.ask(request)
    let question = try #require(scene.waiting.first)
    #expect(question.keyChange == KeyChange(at: at, reporters: [Self.byCellar]))
    #expect(scene.command(.setPreferred(.current)) == .preferredSet(isChanged: false, hasCredentials: true))
    #expect(scene.output.audit == [.preferredConfirmed])
    #expect(scene.home.changes.records.contains(.home))
    #expect(scene.home.changes.records.contains(.question(question.id)))
    #expect(scene.waiting.map(\.keyChange) == [nil], "the one that waits, too")
    scene.deny()
    scene.pass(seconds: 200)
    scene.ask(request)
    #expect(scene.waiting.map(\.keyChange) == [nil])
  }

  @Test("The question about an adoption says so, too, and one about a network of others does not") func adoption() {
    var scene = Self.changed { $0.settings.adoptTimeout = 300 }
    scene.enroll("c")
    scene.announce(3, .of(3), from: "c")
    scene.tick()
    #expect(scene.waiting.map(\.keyChange?.reporters) == [[Self.byCellar]])
    scene.ask(.getNetwork(3))
    #expect(scene.waiting.last?.keyChange == nil)
  }

  @Test("The alert about them ends when a person confirms them") func alert() {
    var scene = Self.changed()
    #expect(scene.alert(.preferredNetworkChanged)?.phase == .firing)
    scene.prefer(network: 1)
    #expect(scene.alert(.preferredNetworkChanged)?.phase == .firing, "it has earlier keys, too")
    scene.command(.setPreferred(.current))
    #expect(scene.alert(.preferredNetworkChanged)?.phase != .firing)
  }

  @Test("A program's choice, and another change by a router, confirm nothing") func notConfirmed() {
    var scene = Self.changed()
    scene.ask(.setPreferred(.network(1, router: 2)), by: .program(of: "b"))
    #expect(scene.home.preferred?.keyChange?.reporters == [Self.byCellar])
    scene.announce(2, .of(1, key: 3, at: 5), from: "b2")
    #expect(scene.home.preferred?.keyChange?.at != nil)
    scene.prefer(.of(1))
    #expect(scene.home.preferred?.keyChange == nil)
  }
}
