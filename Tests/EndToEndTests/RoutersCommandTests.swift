// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Foundation
import KeychainCore
import TestKit
import Testing

@Suite("threadkeeper routers transfer, release and remove", .inTurns, .timeLimit(.minutes(30)))
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

  @Test("A transferred id is taken from the right login, and refused from the wrong one")
  func transfer() async throws {
    let scene = try await Scene()
    let daemon = try await scene.installation.start()
    try await scene.announced()
    let agent = scene.oldRouter.agent
    let advice = try await scene.refused(1)
    #expect(advice.contains("`threadkeeper routers transfer \(agent) new-hub`"), "\(advice)")
    #expect(advice.contains("`threadkeeper routers release \(agent)`"), "\(advice)")

    let moved = try await scene.installation.command("routers", "transfer", agent, "new-hub")
    #expect(moved.status == 0, "\(moved.error)")
    #expect(moved.output.contains("belongs to the team `new-hub` now"), "\(moved.output)")
    #expect(moved.output.contains("The stored dataset, with its network key, is handed to"))
    try await scene.audience.until("the new login") {
      $0.state(scene.newRouter.topic)?["user"] == "new-hub"
    }
    try await scene.right.publish([scene.newRouter.changes(to: try scene.home.hex(at: 2))])
    try await scene.audience.until("the new login's dataset") {
      $0.state(scene.newRouter.topic)?["active_timestamp"] == 2
    }
    try await scene.wrong.publish([scene.oldRouter.changes(to: try scene.home.hex(at: 3))])
    try await scene.audience.until("the old login's rejection") {
      $0.events("message_rejected").count == 2
    }
    #expect(try await scene.installation.dataset(of: agent) == (try scene.home.hex(at: 2)))
    let again = try await scene.installation.json("routers", "transfer", agent, "new-hub")
    #expect(again["changed"] == false && again["team"] == "new-hub")
    let audit = try await scene.installation.command("audit")
    #expect(
      audit.output.contains(
        "command of user \(getuid())  router_transferred \(agent) home home from old-hub to new-hub"
      ),
      "\(audit.output)")
    #expect(!daemon.log.contains(try scene.home.hex()))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Without a daemon an id is transferred in the store, and counts at the next start")
  func transferWithoutDaemon() async throws {
    let scene = try await Scene()
    let daemon = try await scene.installation.start()
    try await scene.announced()
    #expect(try await daemon.stop() == .exit(0))
    let agent = scene.oldRouter.agent
    let moved = try await scene.installation.json("routers", "transfer", agent, "new-hub")
    #expect(moved["previous_team"] == "old-hub" && moved["credentials"] == true)
    #expect(try await scene.installation.json("credentials", "get", agent)["team"] == "new-hub")
    let again = try await scene.installation.start()
    try await scene.right.publish([scene.newRouter.changes(to: try scene.home.hex(at: 2))])
    try await scene.audience.until("the new login's dataset") {
      $0.state(scene.newRouter.topic)?["active_timestamp"] == 2
    }
    #expect(scene.audience.look { $0.events("message_rejected").isEmpty })
    #expect(try await again.stop() == .exit(0))
    let report = try scene.installation.verify()
    #expect(report == VerificationReport(items: report.items))
  }

  @Test("A released id is taken by the next login that announces it")
  func release() async throws {
    let scene = try await Scene()
    let daemon = try await scene.installation.start()
    try await scene.announced()
    _ = try await scene.refused(1)
    let agent = scene.oldRouter.agent
    let released = try await scene.installation.command("routers", "release", agent)
    #expect(released.status == 0, "\(released.error)")
    #expect(released.output.contains("does not belong to the team `old-hub` any more"))
    try await scene.audience.until("the router without credentials") {
      $0.state(scene.oldRouter.topic)?["credentials"] == "missing"
    }
    try await scene.right.publish([scene.newRouter.announces(try scene.home.hex())])
    try await scene.audience.until("the new owner") {
      $0.state(scene.newRouter.topic)?["credentials"] == "stored"
        && $0.state(scene.newRouter.topic)?["user"] == "new-hub"
    }
    #expect(try await scene.installation.json("credentials", "get", agent)["team"] == "new-hub")
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await scene.installation.command("routers", "release", agent).status == 0)
    #expect(try await scene.installation.command("routers", "release", agent).status == 66)
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

    // Without a daemon, the next one empties the topics.
    let other = scene.oldRouter
    #expect(try await scene.installation.json("routers", "remove", other.agent)["changed"] == true)
    let again = try await scene.installation.start()
    try await scene.audience.until("the other one's topics") { $0.latest[other.topic] == "" }
    #expect(try await scene.installation.json("routers") == [])
    #expect(try await again.stop() == .exit(0))
  }

  @Test("Unknown ids end with 66, wrong arguments and teams without users with 64")
  func failures() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, more: "teams: {crew: [hub], nobody: []}")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1, user: "other")
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await eventually("the router") { !(try await installation.json("routers").list.isEmpty) }
    for isRunning in [true, false] {
      let unknown = "00000000000000ff"
      for command in [["transfer", unknown, "hub2"], ["release", unknown], ["remove", unknown]] {
        let outcome = try await installation.command(["routers"] + command)
        #expect(outcome.status == 66, "\(command): \(outcome.error)")
        #expect(outcome.error.contains(unknown), "\(command): \(outcome.error)")
      }
      for command in [
        ["transfer"], ["transfer", router.agent], ["transfer", "a1", "other"], ["release", "xyz"],
        ["remove"], ["transfer", router.agent, "nobody"], ["transfer", router.agent, "hub"],
        ["transfer", router.agent, "a/b"], ["transfer", router.agent, "threadkeeper.internal"],
        ["remove", router.agent, "--home", "elsewhere"],
      ] {
        let outcome = try await installation.command(["routers"] + command)
        #expect(outcome.status == 64, "\(command): \(outcome.error)")
      }
      let hint = try await installation.command("routers", "transfer", router.agent, "hub")
      #expect(hint.error.contains("the login `hub` speaks for the team `crew`"), "\(hint.error)")
      if isRunning { #expect(try await daemon.stop() == .exit(0)) }
    }
    for command in ["transfer", "release", "remove"] {
      let help = try await ThreadkeeperBinary.run("routers", command, "--help")
      #expect(help.status == 0 && help.output.contains("Examples:"), "\(help.output)")
    }
  }
}
