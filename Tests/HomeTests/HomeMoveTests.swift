// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// A whole home that moves to another network.
@Suite struct HomeMoveTests {
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene(change)
    scene.announce(1...3, .of(1))
    return scene
  }

  @Test("Is one alert, in place of one for each router, until a person takes the network")
  func moved() throws {
    var scene = Self.scene()
    scene.announce(1...3, .of(2))
    scene.pass(seconds: 30)
    #expect(scene.alarms == [.of(.homeMoved)])
    let facts = try #require(scene.alert(.homeMoved)?.facts)
    #expect(facts.message == .movedTo(routers: 3, of: 3))
    #expect(facts.names.count == 3 && facts.otherNames == .init(["otbr"]))
    #expect(facts.network == .init(.of(2)) && facts.preferred == .init(.of(1)))
    scene.prefer(network: 2)
    #expect(scene.alarms == [.of(.preferredNetworkChanged)])
  }

  @Test("Takes the place of alerts that were raised for its first routers")
  func replaces() {
    var scene = Self.scene { $0.alertsHold = 0 }
    scene.announce(1, .of(2))
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 1)])
    scene.announce(2, .of(2))
    scene.announce(3, .of(2))
    #expect(scene.alarms == [.of(.homeMoved)])
  }

  @Test("Is each router's own alert again when one comes back, and when only one is left")
  func splits() {
    var scene = Self.scene { $0.alertsHold = 0 }
    scene.announce(1...3, .of(2))
    scene.announce(1, .of(1))
    #expect(
      scene.alarms == [.of(.preferredNetworkMismatch, 2), .of(.preferredNetworkMismatch, 3)])
    scene.announce(1, .of(2))
    for agent: UInt64 in 1...2 { scene.publish(.leave, agent) }
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 3)])
  }

  @Test(
    "All members that are known to be somewhere must be together elsewhere",
    arguments: [
      ("all", [2, 2, 2], [], true),
      ("all, one offline", [2, 2, 2], [1], true),
      ("one at home", [2, 2, 1], [], false),
      (
        "one that was last at home and is offline", [2, 2, 1],
        [3], true
      ),
      ("one on a third", [2, 2, 3], [], false),
      (
        "one on a third, offline", [2, 2, 3], [3],
        false
      ),
      (
        "one alone, the others offline", [2, 1, 1], [2, 3],
        false
      ),
    ])
  func together(_ what: String, _ networks: [UInt64], _ offline: [UInt64], _ hasMoved: Bool) {
    var scene = Self.scene { $0.alertsHold = 0 }
    for (index, network) in networks.enumerated() {
      scene.announce(UInt64(index + 1), .of(network))
    }
    for agent in offline { scene.publish(.offline, agent) }
    #expect(scene.alarms.contains(.of(.homeMoved)) == hasMoved)
  }

  @Test("A router that was never on the preferred network changes nothing of it")
  func outsider() {
    var scene = Self.scene { $0.alertsHold = 0 }
    scene.announce(9, .of(5))
    scene.announce(1...3, .of(2))
    #expect(scene.alarms == [.of(.homeMoved), .of(.preferredNetworkMismatch, 9)])
  }

  @Test("Is none where a person has chosen a network without routers")
  func chosen() {
    var scene = Self.scene { $0.alertsHold = 0 }
    scene.prefer(.of(2))
    #expect(scene.alert(.homeMoved) == nil)
    #expect(scene.alarms.count { $0.name == .preferredNetworkMismatch } == 3)
  }

  /// Of four members two are on another network of the same name, as their login reports; the others cannot be reached.
  private static func part(of login: ExactName) -> HomeScene {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.name = "Attic" }
    scene.announce(2, .of(1), from: login) { $0.name = "Cellar" }
    scene.announce(3...4, .of(1), from: "else")
    for agent: UInt64 in 3...4 { scene.publish(.offline, agent, from: "else") }
    let moved = DatasetSummary.of(6, key: 6, name: "net-1")
    scene.announce(1, moved)
    scene.announce(2, moved, from: login)
    return scene
  }

  @Test("Counts all members, and names the routers that have moved, and their logins")
  func counts() throws {
    let facts = try #require(Self.part(of: "hub").alert(.homeMoved)?.facts)
    #expect(facts.message == .movedTo(routers: 2, of: 4))
    #expect(
      facts.names == .init(["Attic", "Cellar"]) && facts.otherNames == .init(["hub", "otbr"]))
  }

  @Test("Takes the place of the routers' alerts only where those of two teams, or all, have moved")
  func hides() {
    func mismatches(_ scene: HomeScene) -> Int {
      scene.alarms.count { $0.name == .preferredNetworkMismatch }
    }
    var one = Self.part(of: "otbr")
    #expect(one.alarms.contains(.of(.homeMoved)) && mismatches(one) == 2)
    #expect(mismatches(Self.part(of: "hub")) == 0)
    // The others are gone for good: then all have moved.
    for agent: UInt64 in 3...4 { one.handle(.remove(.number(agent))) }
    #expect(one.alarms.contains(.of(.homeMoved)) && mismatches(one) == 0)
    #expect(one.alert(.homeMoved)?.facts.message == .movedTo(routers: 2, of: 2))
  }

  @Test("Of routers that were only seen it is the same")
  func seen() {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.see(.of(1), .of(2))
    scene.prefer(network: 1)
    scene.see(.of(1, on: 2), .of(2, on: 2))
    #expect(scene.alarms == [.of(.homeMoved)])
  }
}
