// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import KeychainCore
import TestKit
import Testing

@Suite("threadkeeper routers remove", .inTurns, .timeLimit(.minutes(30)))
struct RoutersCommandTests {
  /// A broker with logins and an access list, and a daemon on it.
  private struct Scene {
    let broker: TestBroker
    let installation: Installation
    let audience: Audience
    let wrong: TestPublisher
    let right: TestPublisher
    let home: ThreadNetwork

    init() async throws {
      broker = try TestBroker(logins: [
        .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        .init("old-hub"), .init("new-hub"),
      ])
      let password = try #require(broker.broker.password(of: "threadkeeper"))
      installation = try Installation(
        broker, mqtt: ["username: threadkeeper", "password: '\(password)'"], hold: 0)
      audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
      wrong = try await TestPublisher.start(broker, user: "old-hub")
      right = try await TestPublisher.start(broker, user: "new-hub")
      home = try ThreadNetwork("home")
    }

    var oldRouter: BorderRouter { BorderRouter(number: 1, user: "old-hub") }
    var newRouter: BorderRouter { BorderRouter(number: 1, user: "new-hub") }

    /// The wrong login has announced the router.
    func announced() async throws {
      try await wrong.publish([oldRouter.announces(try home.hex())])
      try await audience.until("the router") { $0.state(oldRouter.topic)?["user"] == "old-hub" }
    }

    /// The right login announces it, and is refused.
    ///
    /// - Returns: the message of the rejection.
    func refused(_ count: Int) async throws -> String {
      try await right.publish([newRouter.announces(try home.hex())])
      try await audience.until("the rejection") { $0.events("message_rejected").count == count }
      return audience.look { $0.events("message_rejected").last?["message"]?.text } ?? ""
    }
  }

  @Test("A removed id is taken by the next login that announces it")
  func nextOwner() async throws {
    let scene = try await Scene()
    let daemon = try await scene.installation.start()
    try await scene.announced()
    let agent = scene.oldRouter.agent
    let advice = try await scene.refused(1)
    #expect(advice.contains("`threadkeeper routers remove \(agent)`"), "\(advice)")
    let removed = try await scene.installation.json("routers", "remove", agent)
    #expect(removed["previous_team"] == "old-hub" && removed["credentials"] == true)
    try await scene.audience.until("the router to go") { $0.latest[scene.oldRouter.topic] == "" }
    try await scene.right.publish([scene.newRouter.announces(try scene.home.hex())])
    try await scene.audience.until("the new owner") {
      $0.state(scene.newRouter.topic)?["credentials"] == "stored"
        && $0.state(scene.newRouter.topic)?["user"] == "new-hub"
    }
    #expect(try await scene.installation.json("credentials", "get", agent)["team"] == "new-hub")
    try await scene.wrong.publish([scene.oldRouter.changes(to: try scene.home.hex(at: 3))])
    try await scene.audience.until("the old login's rejection") {
      $0.events("message_rejected").count == 2
    }
    let audit = try await scene.installation.command("audit")
    #expect(
      audit.output.contains(
        "command of user \(getuid())  router_removed \(agent) home home from old-hub"),
      "\(audit.output)")
    #expect(!daemon.log.contains(try scene.home.hex()))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A removed ghost is gone from the broker's topics, and its alerts resolve")
  func remove() async throws {
    let scene = try await Scene()
    let daemon = try await scene.installation.start()
    try await scene.announced()
    let ghost = BorderRouter(number: 2, user: "old-hub")
    let guest = try ThreadNetwork("guest-thread")
    try await scene.wrong.publish([ghost.announces(try guest.hex()), ghost.says("offline")])
    try await scene.audience.until("the ghost's alerts") {
      !$0.alerts("alert_raised", "BorderRouterOffline").isEmpty
        && !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    let removed = try await scene.installation.command("routers", "remove", ghost.agent)
    #expect(removed.status == 0, "\(removed.error)")
    #expect(removed.output == "\(ghost.agent) is removed, and so are its credentials.\n")
    let gone = [
      ghost.topic, "\(ghost.topic)/availability", "threadkeeper/network/\(guest.extendedPANID)",
    ]
    try await scene.audience.until("empty topics and resolved alerts") { heard in
      gone.allSatisfy { heard.latest[$0] == "" }
        && heard.events("router_left").last?["reason"] == "removed"
        && !heard.alerts("alert_resolved", "BorderRouterOffline").isEmpty
        && !heard.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
    }
    let late = try await Audience.start(scene.broker, user: "monitor", "threadkeeper/#")
    try await late.until("what is retained") { $0.state(scene.oldRouter.topic) != nil }
    #expect(late.look { heard in gone.allSatisfy { heard.latest[$0] == nil } })
    #expect(
      try await scene.installation.json("routers").list.map { $0["border_agent_id"]?.text }
        == [scene.oldRouter.agent])
    #expect(try await scene.installation.command("credentials", "get", ghost.agent).status == 66)
    #expect(try await scene.installation.command("routers", "remove", ghost.agent).status == 66)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Unknown ids end with 66, wrong arguments with 64; without a daemon it ends with 69")
  func failures() async throws {
    let installation = try Installation(try TestBroker())
    let daemon = try await installation.start()
    let unknown = "00000000000000ff"
    let outcome = try await installation.command("routers", "remove", unknown)
    #expect(outcome.status == 66 && outcome.error.contains(unknown), "\(outcome.error)")
    for arguments in [[], ["xyz"], [unknown, "--home", "elsewhere"]] {
      let refused = try await installation.command(["routers", "remove"] + arguments)
      #expect(refused.status == 64, "\(arguments): \(refused.error)")
    }
    #expect(try await daemon.stop() == .exit(0))
    let alone = try await installation.command("routers", "remove", unknown)
    #expect(alone.status == 69 && alone.error.contains("`threadkeeper run`"), "\(alone.error)")
    let help = try await ThreadkeeperBinary.run("routers", "remove", "--help")
    #expect(help.status == 0 && help.output.contains("Examples:"), "\(help.output)")
  }
}
