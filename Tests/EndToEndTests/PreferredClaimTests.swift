// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("What one login can change of the preferred network", .inTurns, .timeLimit(.minutes(30)))
struct PreferredClaimTests {
  /// Three border routers with a login each, all on one network.
  private struct Scene {
    let broker: TestBroker
    let installation: Installation
    let audience: Audience
    let daemon: DaemonProcess
    let publisher: TestPublisher
    let home: ThreadNetwork
    let routers = ["anna", "bert", "carl"].enumerated().map {
      BorderRouter(number: $0.offset + 1, user: $0.element)
    }

    init(at seconds: UInt64 = 1) async throws {
      broker = try TestBroker()
      installation = try Installation(broker, hold: 0)
      audience = try await Audience.start(broker)
      daemon = try await installation.start()
      publisher = try await TestPublisher.start(broker)
      home = try ThreadNetwork("home")
      for router in routers { try await reports(router, try home.hex(at: seconds), at: seconds) }
    }

    /// Returns when the router's report is in the registry.
    func reports(_ router: BorderRouter, _ dataset: String, at seconds: UInt64) async throws {
      try await publisher.publish([router.announces(dataset)])
      try await audience.until("the report of \(router.user)") {
        $0.state(router.topic)?["active_timestamp"]?.number == Int64(seconds)
      }
    }

    func leaves(_ router: BorderRouter) async throws {
      try await publisher.publish([router.leaves])
      try await audience.until("\(router.user) to leave") { $0.latest[router.topic] == "" }
    }

    func preferred() async throws -> Int64? {
      try await installation.json("preferred", "show")["active_timestamp"]?.number
    }

    func history() async throws -> [JSON] {
      try await installation.json("preferred", "show", "--history").list
    }
  }

  @Test(
    "Alone it replaces no key, also not after it has changed the channel and the others came back")
  func attack() async throws {
    let scene = try await Scene()
    let (audience, routers) = (scene.audience, scene.routers)
    let rekeyed = try ThreadNetwork("home", rekeying: scene.home)

    // The same keys, another channel, a later timestamp: followed, kept, and said with those that disagree.
    try await scene.reports(routers[0], try scene.home.hex(at: 1_000, channel: 20), at: 1_000)
    #expect(try await scene.preferred() == 1_000)
    let former = try #require(try await scene.history().first?["id"]?.text)
    try await audience.until("the warning") {
      $0.alerts("alert_raised", "PreferredNetworkChanged").contains { alert in
        alert["severity"] == "warning" && alert["reason"] == "disagreement"
          && alert["remedy"]?.text?.contains("preferred set \(former)") == true
          && routers.dropFirst().allSatisfy {
            alert["summary"]?.text?.contains($0.agent) == true
          }
      }
    }

    // The others leave and return with what they had.
    for router in routers.dropFirst() { try await scene.leaves(router) }
    for router in routers.dropFirst() {
      try await scene.reports(router, try scene.home.hex(at: 1), at: 1)
    }
    try await scene.reports(routers[0], try rekeyed.hex(at: 1_001), at: 1_001)
    try await audience.until("the dispute, with both sides") {
      $0.alerts("alert_raised", "PreferredKeyDisputed").contains { alert in
        alert["severity"] == "warning"
          && routers.allSatisfy { alert["summary"]?.text?.contains($0.agent) == true }
      }
    }
    #expect(try await scene.preferred() == 1_000)

    // They leave for good.
    for router in routers.dropFirst() { try await scene.leaves(router) }
    try await scene.reports(routers[0], try rekeyed.hex(at: 1_002), at: 1_002)
    #expect(try await scene.preferred() == 1_000)
    try await audience.until("those that left to be named") {
      $0.alertEvents.last { $0["alertname"] == "PreferredKeyDisputed" }.map { alert in
        alert["status"] == "firing" && alert["summary"]?.text?.contains("30 days ago") == true
          && routers.allSatisfy { alert["summary"]?.text?.contains($0.agent) == true }
      } == true
    }

    // A person goes back.
    #expect(try await scene.installation.command("preferred", "set", former).status == 0)
    #expect(try await scene.preferred() == 1)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("A second router of its own does not confirm a key while one of another team has left")
  func ownSecond() async throws {
    let scene = try await Scene()
    let rekeyed = try ThreadNetwork("home", rekeying: scene.home)
    let mine = [scene.routers[0], BorderRouter(number: 9, user: scene.routers[0].user)]
    try await scene.reports(mine[1], try scene.home.hex(at: 1), at: 1)
    for router in scene.routers.dropFirst() { try await scene.leaves(router) }
    for router in mine { try await scene.reports(router, try rekeyed.hex(at: 2), at: 2) }
    #expect(try await scene.preferred() == 1)
    // A person takes those that left off the store.
    for router in scene.routers.dropFirst() {
      #expect(
        try await scene.installation.command("routers", "remove", router.agent).status
          == 0)
    }
    #expect(try await scene.preferred() == 2)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Routers that follow each other raise no warning that stays, and every change is kept")
  func together() async throws {
    let scene = try await Scene()
    for (seconds, channel) in [(2, 20), (3, 21), (4, 22)] as [(UInt64, UInt16)] {
      for router in scene.routers {
        try await scene.reports(
          router, try scene.home.hex(at: seconds, channel: channel), at: seconds)
      }
    }
    try await scene.audience.until("the warning to become a notice") {
      $0.alertEvents.last { $0["alertname"] == "PreferredNetworkChanged" }.map {
        $0["status"] == "firing" && $0["severity"] == "info" && $0["reason"] == nil
      } == true
    }
    let history = try await scene.history()
    #expect(history.map { $0["active_timestamp"]?.number } == [3, 2, 1])
    // Of its several datasets the network's id means the newest, and each is chosen by its own.
    let first = try #require(history.last?["id"]?.text)
    #expect(try await scene.installation.command("preferred", "set", first).status == 0)
    #expect(try await scene.preferred() == 1)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test(
    "A timestamp is followed when it is at most a year ahead of the clock, and a person may set any"
  )
  func timestamp() async throws {
    let now = UInt64(Date().timeIntervalSince1970)
    let scene = try await Scene(at: now)
    let router = scene.routers[0]
    let stored = try await scene.installation.dataset(of: router.agent)
    for far in [now + 2 * 365 * 86_400, 0xFFFF_FFFF_FFFF] {
      let conflicts = scene.audience.look { $0.events("dataset_ignored").count }
      try await scene.publisher.publish([
        router.changes(to: try scene.home.hex(at: far, channel: 20))
      ])
      try await scene.audience.until("the refused dataset") {
        $0.events("dataset_ignored").count > conflicts
          && $0.alerts("alert_raised", "DatasetConflict").contains {
            $0["router"]?.text == router.agent && $0["summary"]?.text?.contains("a year") == true
          }
      }
      #expect(try await scene.preferred() == Int64(now))
      #expect(try await scene.installation.dataset(of: router.agent) == stored)
    }
    let later = now + 300 * 86_400
    try await scene.reports(router, try scene.home.hex(at: later, channel: 20), at: later)
    #expect(try await scene.preferred() == Int64(later))
    try await scene.audience.until("the conflict to end") {
      !$0.alerts("alert_resolved", "DatasetConflict").isEmpty
    }

    let far = try scene.home.hex(at: now + 3 * 365 * 86_400, channel: 21)
    #expect(try await scene.installation.command("preferred", "set", far).status == 0)
    try await scene.reports(router, far, at: now + 3 * 365 * 86_400)
    try await scene.audience.until("its router to match") {
      $0.state(router.topic)?["preferred"] == "match"
    }
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
