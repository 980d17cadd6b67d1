// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// Whether routers can be reached, where they are, and how their Thread interface is.
@Suite struct PresenceTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.announce(1, .of(1))
    return scene
  }

  @Test("Out of reach is not gone: nothing is deleted, and any sign of life brings it back")
  func offline() {
    for kind in [RouterMessage.Kind.heartbeat, .announce, .dataset] {
      var scene = Self.scene()
      let output = scene.publish(.offline, 1) { $0.offlineReason = .frozen }
      #expect(output.alerts == [.borderRouterOffline: .raised] && output.types == [])
      #expect(scene.router(1)?.offlineReason == .frozen && scene.router(1)?.dataset == .of(1))
      #expect(scene.home.network(.number(1))?.online == 1)
      let back = scene.publish(kind, 1) { if kind == .dataset { $0.dataset = .of(1) } }
      #expect(back.types == .online && back.alerts == [.borderRouterOffline: .resolved])
      #expect(scene.router(1)?.isOnline == true && scene.router(1)?.offlineReason == nil)
    }
  }

  @Test(
    "A router that sends heartbeats is offline when they stop, and no other one",
    arguments: [(301, true, true), (300, true, false), (900, false, false)])
  func silence(_ seconds: Int, _ beats: Bool, _ isSilent: Bool) {
    var scene = Self.scene()
    if beats { scene.publish(.heartbeat, 1) }
    let last = scene.now
    scene.pass(seconds: seconds)
    #expect(scene.router(1)?.isOnline == !isSilent)
    #expect(scene.router(1)?.offlineReason == (isSilent ? .silent : nil))
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.since == (isSilent ? last : nil))
  }

  @Test("Who was not listened to was not silent", arguments: [nil, 0, 299, 300])
  func listening(_ seconds: Int?) {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1)
    scene.wait(seconds: 1_000)
    let link = Link(
      connection: 1, listeningSince: seconds.map { scene.now.adding(seconds: -$0) })
    scene.handle(.tick(link))
    #expect(scene.router(1)?.isOnline == (seconds != 300))
  }

  @Test("With a limit of 0 no router counts as silent")
  func never() {
    var scene = Self.scene()
    scene.rules.offlineAfter = 0
    scene.publish(.heartbeat, 1)
    scene.pass(seconds: 100_000)
    #expect(scene.router(1)?.isOnline == true && scene.due() == nil)
  }

  @Test("A heartbeat without news, also the first one, changes only when the router was seen")
  func signOfLife() throws {
    var scene = Self.scene()
    _ = scene.home.takeChanges()
    for _ in 1...2 {
      scene.wait(seconds: 20)
      #expect(scene.publish(.heartbeat, 1) == HomeOutput())
      #expect(scene.home.takeChanges().isEmpty)
      #expect(scene.home.routers.lastSeen(.number(1)) == scene.now)
    }
    // That there are heartbeats is in the record, which is saved with the next change or after some minutes.
    var read = Home(rules: scene.rules)
    _ = try read.load(try #require(scene.home.record(.router(.number(1)))))
    #expect(read.routers[.number(1)]?.beats == true)
  }

  @Test("A router that runs on another network than it is configured for does not match")
  func elsewhere() throws {
    var scene = Self.scene()
    scene.announce(2, .of(2))
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .child, network: .number(2)) }
    #expect(scene.verdict(of: 1) == .mismatch(.extendedPANID))
    let facts = try #require(scene.alert(.preferredNetworkMismatch, 1)?.facts)
    #expect(facts.message == .elsewhere(isConfiguredForPreferred: true))
    #expect(facts.network == .init(.of(2)) && facts.configured == .init(.of(1)))
    // One without these fields says nothing about that.
    scene.publish(.heartbeat, 1)
    #expect(scene.router(1)?.currentNetwork == .number(2))
    scene.publish(.heartbeat, 1) { $0.thread.network = .number(1) }
    #expect(
      scene.verdict(of: 1) == .match && !scene.alarms.contains(.of(.preferredNetworkMismatch, 1)))
    scene.announce(1, .of(2)) { $0.thread.network = .number(1) }
    #expect(
      scene.alert(.preferredNetworkMismatch, 1)?.facts.message
        == .elsewhere(isConfiguredForPreferred: false))
    // An announcement without them makes both unknown.
    scene.announce(1, .of(1))
    #expect(scene.verdict(of: 1) == .match)
  }

  @Test("A detached router is an alert that says since when, while it is online")
  func detached() {
    var scene = Self.scene()
    let since = scene.now
    scene.publish(.heartbeat, 1) { $0.thread.state = .detached }
    scene.wait(seconds: 9)
    scene.publish(.heartbeat, 1) { $0.thread.state = .detached }
    #expect(scene.alarms == [.of(.routerDetached, 1)])
    #expect(scene.alert(.routerDetached, 1)?.facts.since == since)
    scene.publish(.offline, 1) { $0.offlineReason = .unreachable }
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    scene.publish(.heartbeat, 1) { $0.thread.state = .router }
    #expect(scene.alarms == [])
  }

  @Test("A disabled Thread interface counts as offline, and what it names as its network does not")
  func disabled() {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .disabled, network: .number(2)) }
    #expect(scene.router(1)?.isOnline == false && scene.router(1)?.offlineReason == .stopped)
    #expect(scene.verdict(of: 1) == .match)
    scene.publish(.heartbeat, 1)
    #expect(scene.router(1)?.isOnline == true && scene.router(1)?.threadState == nil)
    scene.publish(.offline, 1) { $0.offlineReason = .stopped }
    #expect(scene.router(1)?.threadState == .disabled)
  }

  @Test("Another login of the team may speak for the router, one of another team may not")
  func team() {
    var scene = HomeScene { $0.team = { $0 == "two" ? "otbr" : $0 } }
    scene.announce(1, .of(1))
    for kind in [RouterMessage.Kind.heartbeat, .offline, .announce, .leave] {
      #expect(scene.publish(kind, 1, from: "other").rejection == .notAuthorized(.number(1)))
      #expect(scene.publish(kind, 1, from: "two").rejection == nil)
    }
    #expect(scene.router(1)?.owner == "otbr" && scene.router(1)?.isPresent == false)
  }
}
