import Testing

@testable import Home

/// Members that report other keys of the preferred network than it has.
@Suite struct KeyDisputeTests {
  private static let day = 86_400
  private static let claim = DatasetSummary.of(1, key: 2, at: 2)

  /// Two members; the first one claims other keys.
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene(change)
    scene.announce(1, .of(1)) { $0.name = "Attic" }
    scene.announce(2, .of(1)) { $0.name = "Cellar" }
    scene.announce(1, claim)
    return scene
  }

  @Test("One member's new keys are stored for it, and disputed; it is no mismatch of the router") func disputed() throws
  {
    var scene = Self.scene()
    #expect(scene.output.types == .datasetUpdated)
    #expect(scene.router(1)?.dataset == Self.claim && scene.preferred == .of(1))
    #expect(scene.verdict(of: 1)?.isMismatch == true && scene.verdict(of: 2) == .match)
    #expect(scene.alert(.preferredKeyDisputed)?.phase == .held)
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.of(.preferredKeyDisputed)])
    let facts = try #require(scene.alert(.preferredKeyDisputed)?.facts)
    #expect(facts.names == .init([#""Attic""#]) && facts.otherNames == .init([#""Cellar""#]))
    #expect(facts.router == 1 && facts.routerName == "Attic")
    #expect(facts.differs == [.networkKey, .pskc] && facts.network == .init(.of(1)))
    #expect(facts.message == .keysDisputed(claimed: 2, current: 1, departed: .init(), hasDamage: false))
    #expect(scene.announce(1, Self.claim) == HomeOutput())
  }

  @Test("A second member's report makes them the keys of the home") func confirmed() throws {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    let output = scene.announce(2, Self.claim)
    #expect(output.types == [.datasetUpdated, .preferredChanged])
    #expect(scene.preferred == Self.claim)
    #expect(scene.router(1)?.followsPreferred == true && scene.verdict(of: 1) == .match)
    #expect(scene.alarms == [.of(.preferredNetworkChanged)])
    let change = try #require(scene.preferredChange)
    #expect(change.cause == .confirmed(by: 1))
    #expect(change.who == #""Cellar""# && change.second == #""Attic""#)
  }

  enum End: CaseIterable { case back, leaves, moves, deleted, removed, otherParameters }

  @Test("A claim ends when its router takes it back, or has the credentials no more", arguments: End.allCases)
  func ends(_ end: End) {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    #expect(scene.alarms == [.of(.preferredKeyDisputed)])
    switch end {
    case .back: scene.announce(1, .of(1))
    case .leaves: scene.publish(.leave, 1)
    case .moves: scene.announce(1, .of(2))
    case .deleted: scene.ask(.deleteCredentials(1), by: .login("otbr"))
    case .removed: scene.handle(.remove(1))
    case .otherParameters: scene.announce(1, .of(1, at: 3, channel: 20))
    }
    #expect(!scene.alarms.contains(.of(.preferredKeyDisputed)))
    let moved = end == .otherParameters
    #expect(scene.preferred == (moved ? .of(1, at: 3, channel: 20) : .of(1)))
  }

  @Test("Who keeps the current keys ends the dispute, which the audit has once") func kept() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    for audit in [[AuditNote.preferredConfirmed], []] {
      #expect(scene.command(.setPreferred(.current)) == .preferredSet(isChanged: false, hasCredentials: true))
      #expect(scene.output.audit == audit)
      #expect(!scene.alarms.contains(.of(.preferredKeyDisputed)) && scene.preferred == .of(1))
    }
  }

  @Test("When the other side has left, the claim is the only member's after 30 days") func otherSideLeft() {
    var scene = Self.scene()
    scene.publish(.leave, 2)
    scene.pass(seconds: 30)
    let message = scene.alert(.preferredKeyDisputed)?.facts.message
    #expect(message == .keysDisputed(claimed: 2, current: 1, departed: .init([#""Cellar""#]), hasDamage: false))
    scene.pass(seconds: 30 * Self.day - 31)
    #expect(scene.preferred == .of(1))
    let output = scene.pass(seconds: 1)
    #expect(scene.preferred == Self.claim)
    #expect(output.types(of: 1) == .preferredChanged)
    #expect(output.secrets.last == SecretMove(to: .home, from: .record(.router(1))))
    #expect(scene.alert(.preferredKeyDisputed)?.phase == .resolved && scene.verdict(of: 1) == .match)
  }

  @Test("A removal of the other side decides at once, listed or not", arguments: [true, false]) func otherSideRemoved(
    _ isListed: Bool
  ) {
    var scene = Self.scene()
    if !isListed { scene.publish(.leave, 2) }
    scene.handle(.remove(2))
    #expect(scene.preferred == Self.claim)
  }

  @Test("When another team has no member any more, two of one team are enough", arguments: [true, false])
  func otherTeamRemoved(_ isListed: Bool) {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1...2, .of(1))
    if isListed {
      scene.announce(3, .of(1), from: "other")
    } else {
      scene.ask(.storeCredentials(3, .of(1)), by: .login("other"))
    }
    #expect(scene.router(3)?.followsPreferred == true)
    scene.announce(1...2, Self.claim)
    #expect(scene.preferred == .of(1) && scene.alarms == [.of(.preferredKeyDisputed)])
    scene.handle(.remove(3))
    #expect(scene.preferred == Self.claim)
    #expect(scene.alarms == [.of(.preferredNetworkChanged)] && scene.verdict(of: 1) == .match)
  }

  @Test(
    "What became of an earlier adoption of a claimant keeps nothing open",
    arguments: [AdoptionState.due, .notEnrolled, .denied]) func adopted(_ state: AdoptionState) throws
  {
    var scene = Self.scene { $0.settings.adoptTimeout = 300 }
    if state == .denied { scene.enroll("otbr") }
    var router = try #require(scene.router(1))
    let terms = Adoption.Terms(
      user: "otbr", team: "otbr", fingerprint: "key of otbr", preferred: .of(1), reported: Self.claim,
      consent: ConsentID(1))
    router.adoption = Adoption(state, terms)
    scene.home.put(router)
    // Another name of its Wi-Fi asks about no claim.
    scene.publish(.ssid, 1) { $0.ssid = "other" }
    scene.publish(.ssid, 1) { $0.ssid = "another" }
    scene.pass(seconds: 31)
    #expect(scene.home.questions.isEmpty)
    #expect(scene.router(1)?.adoption?.state == (state == .denied ? .denied : nil))
    scene.publish(.leave, 2)
    scene.pass(seconds: 31 * Self.day)
    #expect(scene.preferred == Self.claim)
  }

  @Test("Of many claims the alert names three; once one team is left, the newest counts") func many() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    for agent: UInt64 in 1...20 { scene.announce(agent, .of(1), from: agent < 20 ? "a" : "b") }
    for agent: UInt64 in 1...19 { scene.announce(agent, .of(1, key: 2, at: agent / 5 + 2), from: "a") }
    let facts = try #require(scene.alert(.preferredKeyDisputed)?.facts)
    #expect(facts.names.first.count == 3 && facts.names.count == 19)
    #expect(facts.router == 15 && facts.otherNames == .init(["0000000000000014"]))
    scene.handle(.remove(20))
    #expect(scene.preferred == .of(1, key: 2, at: 5))
  }

  @Test("Damaged records without credentials are of no member: the only one leads all the same") func damageOfOthers() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.home.hasDamage = true
    scene.announce(1, Self.claim)
    #expect(scene.preferred == Self.claim)
  }

  @Test("Damaged credentials may be those of another member: then nobody is the only one") func damage() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.home.hasLostCredentials = true
    scene.announce(1, Self.claim)
    #expect(scene.preferred == .of(1))
    #expect(
      scene.alert(.preferredKeyDisputed)?.facts.message
        == .keysDisputed(claimed: 2, current: 1, departed: .init(), hasDamage: true))
  }

  @Test("A person takes the new keys; the others are behind then") func personAgrees() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    #expect(
      scene.command(.setPreferred(.network(1, router: 1)))
        == .preferredSet(isChanged: true, hasCredentials: true, keysOf: .router(1)))
    #expect(scene.preferred == Self.claim)
    #expect(scene.alarms == [.of(.staleDataset, 2), .of(.preferredNetworkChanged)])
  }

  @Test("A person who names neither side has decided nothing: the dispute stays") func personNamesNone() {
    for choice in [HomeRequest.PreferredChoice.network(1, router: nil), .name("net-1")] {
      var scene = Self.scene { $0.settings.alertsHold = 0 }
      #expect(
        scene.command(.setPreferred(choice))
          == .refused(
            .severalKeys(
              1,
              [
                .init(areCurrent: true, seconds: 1, owners: [.router(2)]),
                .init(areCurrent: false, seconds: 2, owners: [.router(1)]),
              ])))
      #expect(scene.preferred == .of(1) && scene.alarms == [.of(.preferredKeyDisputed)])
    }
  }

  @Test("A person stays with the current keys: the claim is a mismatch of that router, and no claim")
  func personRefuses() {
    for (way, choice) in [
      (.current, .of(1)), (.dataset(.of(1)), .of(1)), (.dataset(.of(1, channel: 20)), .of(1, channel: 20)),
    ] as [(HomeRequest.PreferredChoice, DatasetSummary)] {
      var scene = Self.scene { $0.settings.alertsHold = 0 }
      scene.command(.setPreferred(way))
      #expect(!scene.alarms.contains(.of(.preferredKeyDisputed)))
      #expect(scene.alarms.contains(.of(.preferredNetworkMismatch, 1)))
      #expect(scene.router(1)?.followsPreferred == false)
      scene.announce(1, .of(1, key: 2, at: 3))
      scene.publish(.leave, 2)
      scene.pass(seconds: 31 * Self.day)
      #expect(scene.preferred == choice)
    }
  }
}
