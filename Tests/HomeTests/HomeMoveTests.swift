import Testing

@testable import Home

/// A whole home that moves to another network.
@Suite struct HomeMoveTests {
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene(change)
    scene.announce(1...3, .of(1))
    return scene
  }

  @Test("Is one alert, in place of one for each router, until a person takes the network") func moved() throws {
    var scene = Self.scene()
    scene.announce(1...3, .of(2))
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.of(.homeMoved)])
    let facts = try #require(scene.alert(.homeMoved)?.facts)
    #expect(facts.message == .movedTo(routers: 3, of: 3, lost: 0))
    #expect(facts.names.count == 3 && facts.otherNames == .init(["otbr"]))
    #expect(facts.network == .init(.of(2)) && facts.preferred == .init(.of(1)))
    scene.prefer(network: 2)
    #expect(scene.alarms == [.of(.preferredNetworkChanged)])
  }

  @Test("Takes the place of alerts that were raised for its first routers") func replaces() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(2))
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 1)])
    scene.announce(2, .of(2))
    scene.announce(3, .of(2))
    #expect(scene.alarms == [.of(.homeMoved)])
  }

  @Test("Is each router's own alert again when most have come back, and when only one is left") func splits() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(1...3, .of(2))
    scene.announce(1, .of(1))
    #expect(scene.alarms == [.of(.homeMoved)])
    scene.announce(2, .of(1))
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 3)])
    scene.announce(1...2, .of(2))
    for agent: UInt64 in 1...2 { scene.publish(.leave, agent) }
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 3)])
  }

  @Test(
    "More of the members must be together elsewhere than are left behind and can be reached",
    arguments: [
      ("all", [2, 2, 2], [], true), ("all, one offline", [2, 2, 2], [1], true),
      ("one left behind", [2, 2, 1], [], true), ("as many left behind", [2, 2, 1, 1], [], false),
      ("as many left behind, one of them offline", [2, 2, 1, 1], [4], true),
      ("one that was last at home and is offline", [2, 2, 1], [3], true), ("one on a third", [2, 2, 3], [], true),
      ("one on a third, offline", [2, 2, 3], [3], true), ("as many on a third", [2, 2, 3, 3], [], false),
      ("one alone, the others offline", [2, 1, 1], [2, 3], false),
    ]) func together(_ what: String, _ networks: [UInt64], _ offline: [UInt64], _ hasMoved: Bool)
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1...UInt64(networks.count), .of(1))
    for (index, network) in networks.enumerated() { scene.announce(UInt64(index + 1), .of(network)) }
    for agent in offline { scene.publish(.offline, agent) }
    #expect(scene.alarms.contains(.of(.homeMoved)) == hasMoved)
  }

  @Test("A router that was never on the preferred network changes nothing of it") func outsider() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(5))
    scene.announce(1...3, .of(2))
    #expect(scene.alarms == [.of(.homeMoved), .of(.preferredNetworkMismatch, 9)])
  }

  @Test("Is none where a person has chosen a network without routers") func chosen() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.prefer(.of(2))
    #expect(scene.alert(.homeMoved) == nil)
    #expect(scene.alarms.count { $0.name == .preferredNetworkMismatch } == 3)
  }

  /// Of four members two are on another network of the same name, as their login reports; the others cannot be reached.
  private static func part(of login: ExactName) -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.name = "Attic" }
    scene.announce(2, .of(1), from: login) { $0.name = "Cellar" }
    scene.announce(3...4, .of(1), from: "else")
    for agent: UInt64 in 3...4 { scene.publish(.offline, agent, from: "else") }
    let moved = DatasetSummary.of(6, key: 6, name: "net-1")
    scene.announce(1, moved)
    scene.announce(2, moved, from: login)
    return scene
  }

  @Test("Counts all members, and names the routers that have moved, and their logins") func counts() throws {
    let facts = try #require(Self.part(of: "hub").alert(.homeMoved)?.facts)
    #expect(facts.message == .movedTo(routers: 2, of: 4, lost: 2))
    #expect(facts.names == .init([#""Attic""#, #""Cellar""#]) && facts.otherNames == .init(["hub", "otbr"]))
  }

  @Test(
    "Counts who was there until the move",
    arguments: [
      ("left behind", 0, 1, false, 3, 0), ("left behind, and just gone off", 0, 1, true, 3, 1),
      ("gone off two days ago", 172_800, 1, true, 2, 0), ("on a third network since", 0, 3, false, 3, 0),
      ("on a third network before", 1, 3, false, 2, 0),
    ]) func until(_ what: String, _ seconds: Int, _ network: UInt64, _ isOffline: Bool, _ all: Int, _ lost: Int)
  {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(3, .of(network))
    if isOffline { scene.publish(.offline, 3) }
    scene.wait(seconds: seconds)
    scene.announce(1...2, .of(2))
    #expect(scene.alert(.homeMoved)?.facts.message == .movedTo(routers: 2, of: all, lost: lost))
    // Of one login: where one cannot be reached, it may have made it up.
    #expect(scene.alarms.contains(.of(.preferredNetworkMismatch, 1)) == (lost > 0), "\(scene.alarms)")
  }

  @Test("Counts a router where it is, whatever it is configured for") func place() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    for agent: UInt64 in 1...2 { scene.publish(.heartbeat, agent) { $0.thread.network = 2 } }
    #expect(scene.alarms == [.of(.homeMoved)])
  }

  @Test("Is none while a router is left behind, and the others are on an accepted network") func accepted() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(1...2, .of(2))
    scene.handle(.acceptNetwork(2, isAccepted: true))
    #expect(scene.alert(.homeMoved)?.phase == .resolved)
    scene.announce(3, .of(2))
    #expect(scene.alarms.contains(.of(.homeMoved)))
  }

  @Test("While it has moved nobody is asked to pull a router back, wherever that is") func pullsNobodyBack() {
    var scene = Self.scene { $0.settings.adoptTimeout = 300 }
    scene.enroll("otbr")
    scene.announce(1, .of(2))
    scene.live(35)
    #expect(scene.waiting.count == 1, "one router has strayed")
    scene.announce(2, .of(2))
    #expect(scene.waiting.isEmpty)
    scene.announce(3, .of(3))
    // One that was never a member, and is with them.
    scene.announce(4) { $0.thread.network = 2 }
    scene.live(60)
    let mismatches: Set<AlertKey> = [.of(.preferredNetworkMismatch, 3), .of(.preferredNetworkMismatch, 4)]
    #expect(scene.alarms == mismatches.union([.of(.homeMoved), .of(.credentialsMissing, 4)]))
    #expect(scene.waiting.isEmpty && scene.home.routers.allSatisfy { $0.adoption == nil })
    scene.prefer(.of(2))
    scene.live(35)
    #expect(scene.waiting.map(\.subject.router?.agent) == [3])
  }

  @Test("Takes the place of the routers' alerts only where those of two teams, or all, have moved") func hides() {
    func mismatches(_ scene: HomeScene) -> Int { scene.alarms.count { $0.name == .preferredNetworkMismatch } }
    var one = Self.part(of: "otbr")
    #expect(one.alarms.contains(.of(.homeMoved)) && mismatches(one) == 2)
    #expect(mismatches(Self.part(of: "hub")) == 0)
    // The others are gone for good: then all have moved.
    for agent: UInt64 in 3...4 { one.handle(.remove(.number(agent))) }
    #expect(one.alarms.contains(.of(.homeMoved)) && mismatches(one) == 0)
    #expect(one.alert(.homeMoved)?.facts.message == .movedTo(routers: 2, of: 2, lost: 0))
  }

  @Test("Of routers that were only seen it is the same") func seen() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(1), .of(2))
    scene.prefer(network: 1)
    scene.see(.of(1, on: 2), .of(2, on: 2))
    #expect(scene.alarms == [.of(.homeMoved)])
  }
}
