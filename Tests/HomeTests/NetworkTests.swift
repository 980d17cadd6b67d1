// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// The networks of a home, which follow from its routers.
@Suite struct NetworkTests {
  private static func shown(_ scene: HomeScene) -> [String] {
    scene.home.networks.map { "\($0.name) \($0.routers) \($0.online)\($0.isPreferred ? " *" : "")" }
  }

  @Test("Networks are listed by name, with their routers, and the preferred one also without any")
  func list() {
    var scene = HomeScene()
    scene.announce(1, .of(3))
    for agent: UInt64 in 2...3 { scene.announce(agent, .of(2)) }
    scene.publish(.offline, 3)
    scene.see(.of(4, on: 5), .of(5, on: nil))
    #expect(Self.shown(scene) == ["net-2 2 1", "net-3 1 1 *", "net-5 1 1"])
    for agent: UInt64 in 1...3 { scene.publish(.leave, agent) }
    #expect(Self.shown(scene) == ["net-3 0 0 *", "net-5 1 1"])
    #expect(scene.home.network(.number(2)) == nil)
  }

  @Test("A network shows its newest dataset; the preferred one its own, whatever others claim")
  func newest() {
    var scene = HomeScene()
    scene.announce(1, .of(1, at: 5))
    scene.announce(2, .of(1, key: 9, at: 99, name: "evil"), from: "other")
    #expect(scene.home.network(.number(1))?.dataset == .of(1, at: 5))
    #expect(scene.home.network(.number(1))?.name == "net-1")
    scene.announce(3, .of(2, at: 7, name: "new"))
    scene.announce(4, .of(2, at: 6, name: "old"))
    #expect(scene.home.network(.number(2))?.dataset == .of(2, at: 7, name: "new"))
    scene.see(.of(5, on: 2) { $0.networkName = "seen" }, .of(6, on: 1) { $0.networkName = "seen" })
    #expect(scene.home.networks.map(\.name) == ["net-1", "new"])
  }

  @Test("Without a dataset its name is what records call it")
  func named() {
    var scene = HomeScene()
    for name in ["", "first", "second"] {
      scene.see(.of(1) { $0.networkName = name })
      #expect(scene.home.network(.number(1))?.name == name)
    }
  }

  @Test(
    "A network that lost the router by which it is shown has the next one, before it is published")
  func nextRouter() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    for agent: UInt64 in 2...4 { scene.announce(agent, .of(2, at: agent)) }
    scene.publish(.leave, 4)
    #expect(scene.home.network(.number(2))?.dataset == .of(2, at: 3))
    #expect(!scene.home.routers.counts.unshown.isEmpty)
    _ = scene.home.takeChanges()
    #expect(scene.home.routers.counts.unshown.isEmpty, "nobody who publishes looks for it")
    #expect(scene.home.network(.number(2))?.dataset == .of(2, at: 3))
  }

  @Test("What changes of a router is published of its networks, and nothing else")
  func changes() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.announce(2, .of(2))
    func changed(_ change: (inout HomeScene) -> Void) -> Set<ExtendedPANID> {
      _ = scene.home.takeChanges()
      change(&scene)
      return scene.home.takeChanges().networks
    }
    #expect(changed { $0.announce(2) { $0.name = "Attic" } } == [])
    #expect(changed { $0.publish(.offline, 2) } == [.number(2)])
    #expect(changed { $0.announce(2, .of(3)) } == [.number(2), .number(3)])
    #expect(changed { $0.announce(2, .of(3, at: 2)) } == [.number(3)])
    #expect(changed { $0.publish(.leave, 2) } == [.number(3)])
    #expect(changed { $0.see(.of(4, on: 4)) } == [.number(4)])
    #expect(changed { $0.see(.of(4, on: 4) { $0.networkName = "x" }) } == [.number(4)])
    #expect(changed { $0.command(.setPreferred(.dataset(.of(5)))) } == [.number(1), .number(5)])
  }
}
