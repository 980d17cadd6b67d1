import Testing

@testable import Home

/// Whose a border agent id is, for how long, and how many a team may have.
@Suite struct OwnershipTests {
  private static let day = 86_400

  private static func owns(_ scene: HomeScene, _ agents: UInt64...) -> [Bool] {
    agents.map { scene.router($0)?.owner == "otbr" }
  }

  @Test("Teams are compared byte by byte") func bytes() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "caf\u{E9}")
    #expect(scene.announce(1, .of(1), from: "cafe\u{301}").rejection == .notAuthorized(1))
  }

  @Test("An owner is kept for 30 days after the router left, and then the id is anybody's") func expiry() {
    var scene = HomeScene()
    scene.announce(1...3, .of(1)) { $0.order = .number(1) }
    for agent: UInt64 in 1...2 { scene.publish(.leave, agent) { $0.order = .number(2) } }
    scene.pass(seconds: 30)
    #expect(scene.due() == Double(30 * Self.day - 30))
    scene.pass(seconds: 30 * Self.day - 31)
    #expect(Self.owns(scene, 1, 2, 3) == [true, true, true])
    let output = scene.pass(seconds: 1)
    #expect(
      Set(output.audit) == [
        .routerRemoved(1, team: "otbr", .leftLongAgo), .routerRemoved(2, team: "otbr", .leftLongAgo),
      ])
    #expect(Set(output.events) == [.forgotten(1), .forgotten(2)])
    #expect(Self.owns(scene, 1, 2, 3) == [false, false, true])
    #expect(scene.announce(1, .of(1), from: "other").rejection == nil)
  }

  @Test("A router that comes back has the whole 30 days again when it leaves the next time") func comesBack() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    for _ in 1...2 {
      scene.publish(.leave, 1)
      scene.pass(seconds: 20 * Self.day)
      scene.announce(1, .of(1))
    }
    scene.publish(.leave, 1)
    scene.pass(seconds: 29 * Self.day)
    // A repetition prolongs nothing.
    scene.publish(.leave, 1)
    #expect(Self.owns(scene, 1) == [true])
    scene.pass(seconds: Self.day)
    #expect(scene.router(1) == nil)
  }

  @Test("Credentials that are stored without a router keep their owner, until they are deleted") func stored() {
    var scene = HomeScene()
    let requester = Requester.login("otbr")
    scene.ask(.storeCredentials(1, .of(1)), by: requester)
    scene.pass(seconds: 40 * Self.day)
    scene.ask(.deleteCredentials(1), by: requester)
    scene.pass(seconds: 29 * Self.day)
    #expect(Self.owns(scene, 1) == [true])
    scene.pass(seconds: Self.day)
    #expect(scene.router(1) == nil)
  }

  @Test("An id that left when the clock was ahead is forgotten 30 days after it was set back") func clockSetBack() {
    var scene = HomeScene()
    let now = scene.now
    scene.announce(1, .of(1))
    scene.wait(seconds: 365 * Self.day)
    scene.publish(.leave, 1)
    scene.now = now
    scene.handle(.clockJumped(by: -365 * 86_400_000))
    scene.pass(seconds: 30 * Self.day)
    #expect(scene.router(1) == nil)
  }

  @Test("At its limit a team loses the id that left first, and no other team's") func limit() {
    var scene = HomeScene { $0.settings.routersPerTeam = 3 }
    scene.announce(9, .of(1), from: "other")
    scene.publish(.leave, 9, from: "other")
    for agent: UInt64 in 1...3 {
      scene.announce(agent, .of(2, key: 2))
      scene.wait(seconds: 1)
    }
    for agent: UInt64 in [2, 1] {
      scene.publish(.leave, agent)
      scene.wait(seconds: 1)
    }
    #expect(scene.announce(4, .of(1)).audit.first == .routerRemoved(2, team: "otbr", .forRoom))
    #expect(Self.owns(scene, 1, 2, 3, 4) == [true, false, true, true])
    scene.announce(5, .of(1))
    #expect(scene.announce(6, .of(1)).rejection == .tooManyRouters(3))
    #expect(Self.owns(scene, 1, 3, 4, 5, 6) == [false, true, true, true, false])
    #expect(scene.router(9)?.owner == "other")
    #expect(scene.announce(2, .of(1), from: "other").rejection == nil)
  }

  @Test("The id of a former member of the preferred network makes no room, as it counts for 30 days")
  func formerMember() {
    var scene = HomeScene { $0.settings.routersPerTeam = 2 }
    scene.announce(1...2, .of(1))
    scene.publish(.leave, 1)
    #expect(scene.announce(3, .of(1)).rejection == .tooManyRouters(2))
    scene.pass(seconds: 30 * Self.day)
    #expect(scene.announce(3, .of(1)).rejection == nil)
  }

  @Test("Routers without a dataset and credentials without a router count, too") func counts() {
    var scene = HomeScene { $0.settings.routersPerTeam = 2 }
    let requester = Requester.login("otbr")
    scene.announce(1)
    scene.ask(.storeCredentials(2, .of(1)), by: requester)
    #expect(scene.announce(3).rejection == .tooManyRouters(2))
    #expect(scene.ask(.storeCredentials(3, .of(1)), by: requester) == .refused(.tooManyRouters(2)))
    // Its own router takes the place that its credentials have.
    #expect(scene.announce(2, .of(1)).rejection == nil)
    scene.publish(.leave, 1)
    #expect(scene.announce(3).rejection == nil)
  }

  @Test("A router that had neither credentials nor numbers leaves no id behind when it leaves") func nothingToKeep() {
    var scene = HomeScene { $0.settings.routersPerTeam = 2 }
    scene.announce(1, .of(1))
    for agent: UInt64 in 2...9 {
      #expect(scene.announce(agent).rejection == nil)
      scene.publish(.leave, agent)
      #expect(scene.router(agent) == nil)
    }
    scene.announce(2) { $0.order = .number(1) }
    scene.publish(.leave, 2) { $0.order = .number(2) }
    #expect(scene.router(2) != nil, "an old event could bring it back")
    #expect(scene.announce(3).rejection == nil && scene.router(2) == nil)
    #expect(scene.announce(4).rejection == .tooManyRouters(2))
  }

  @Test("Nothing is left of a router that a person removes, and its id is anybody's") func remove() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.order = .number(7) }
    scene.publish(.offline, 1)
    let output = scene.handle(.remove(1))
    #expect(output.answer == .removed(team: "otbr", hadCredentials: true))
    #expect(output.types == .left && output.alerts == [.borderRouterOffline: .resolved])
    #expect(output.routerEvents.contains { $0.isRemoved && $0.isLastOfPreferred })
    #expect(output.secrets == [SecretMove(to: .router(1), from: .nothing)])
    #expect(output.audit == [.routerRemoved(1, team: "otbr", .byPerson)])
    #expect(scene.router(1) == nil && scene.preferred == .of(1))
    #expect(scene.announce(1, .of(1), from: "other").types == [.announced, .datasetStored])
  }

  @Test("The id of a router that left, or of none, can be removed as well; an unknown one cannot") func removeAbsent() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.publish(.leave, 1)
    let output = scene.handle(.remove(1))
    #expect(output.answer == .removed(team: "otbr", hadCredentials: false) && output.types == [])
    scene.ask(.storeCredentials(2, .of(1)), by: .login("otbr"))
    #expect(scene.handle(.remove(2)).answer == .removed(team: "otbr", hadCredentials: true))
    #expect(scene.handle(.remove(3)).answer == .refused(.unknownRouter(3)))
  }

  @Test(
    "A given name stays when a router leaves and comes back, and goes when a person removes it",
    arguments: [true, false]) func givenName(isAnnounced: Bool)
  {
    var scene = HomeScene()
    func come(_ name: String, _ scene: inout HomeScene) {
      if isAnnounced { scene.announce(1, .of(1)) { $0.name = name } } else { scene.see(.of(1) { $0.name = name }) }
    }
    #expect(scene.handle(.renameRouter(1, "Attic")).answer == .refused(.unknownRouter(1)))
    come("hub", &scene)
    #expect(scene.handle(.renameRouter(1, "Attic")).answer == .accepted(isChange: true, isKnown: true))
    #expect(scene.handle(.renameRouter(1, "Attic")).answer == .accepted(isChange: false, isKnown: true))
    come("hub 2", &scene)
    #expect(scene.router(1)?.name == "Attic" && scene.router(1)?.ownName == "hub 2")
    if isAnnounced { scene.publish(.leave, 1) } else { scene.handle(.discoveryEnded) }
    #expect(scene.router(1)?.isPresent == false)
    #expect(scene.handle(.renameRouter(1, nil)).answer == .refused(.unknownRouter(1)))
    come("hub 3", &scene)
    #expect(scene.router(1)?.name == "Attic" && scene.router(1)?.isPresent == true)
    #expect(scene.handle(.renameRouter(1, nil)).answer == .accepted(isChange: true, isKnown: true))
    #expect(scene.router(1)?.name == "hub 3")
    scene.handle(.renameRouter(1, "Attic"))
    scene.handle(.remove(1))
    #expect(scene.router(1) == nil)
  }

  @Test("Of a router that has left, and of which nothing but a given name is kept, that goes after 30 days")
  func forgottenName() {
    var scene = HomeScene()
    scene.see(.of(1))
    scene.handle(.renameRouter(1, "Attic"))
    scene.handle(.discoveryEnded)
    #expect(scene.router(1)?.givenName == "Attic")
    scene.wait(seconds: 30 * 86_400 + 60)
    scene.tick()
    #expect(scene.router(1) == nil)
  }

  @Test("Only a listed router can be accepted, and a second time changes nothing") func accept() {
    var scene = HomeScene()
    #expect(scene.handle(.acceptRouter(1)).answer == .refused(.unknownRouter(1)))
    scene.see(.of(1))
    #expect(scene.handle(.acceptRouter(1)).answer == .accepted(isChange: true, isKnown: true))
    #expect(scene.handle(.acceptRouter(1)).answer == .accepted(isChange: false, isKnown: true))
  }
}
