// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Teams that nobody speaks for", .inTurns, .timeLimit(.minutes(30)))
struct TeamCheckTests {
  @Test(
    "A login that `teams` lists later gets its router back by a removal, as the start and status say"
  )
  func teamMadeLater() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1, user: "hub")
    let other = BorderRouter(number: 2, user: "other")
    let daemon = try await installation.start()
    try await publisher.publish([router.announces(try home.hex()), other.announces(try home.hex())])
    try await audience.until("both routers") {
      $0.state(router.topic) != nil && $0.state(other.topic) != nil
    }
    let teams = try await installation.json("status")["teams"]
    #expect(teams?["empty"] == [] && teams?["abandoned_ids"] == [])
    #expect(!daemon.log.contains("nobody speaks for"))
    #expect(try await daemon.stop() == .exit(0))

    let settings = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    try Data((settings + "\nteams: {crew: [hub, attic], nobody: []}\n").utf8)
      .write(to: URL(fileURLWithPath: installation.configuration))
    let again = try await installation.start()
    #expect(again.log.contains("border agent ids belong to a team that nobody speaks for"))
    #expect(again.log.contains("threadkeeper routers remove \(router.agent)"))
    #expect(again.log.contains("no user belongs to a team of the settings"))
    let status = try await installation.command("status").output
    #expect(
      status.contains("\nowners       \(router.agent) belongs to the team `hub`"), "\(status)")
    #expect(status.contains("\nteams        no user belongs to the team `nobody`"), "\(status)")
    let found = try await installation.json("status")["teams"]
    #expect(found?["empty"] == ["nobody"])
    #expect(
      found?["abandoned_ids"]
        == [["home": "home", "border_agent_id": .text(router.agent), "team": "hub"]])

    try await publisher.publish([router.changes(to: try home.hex(at: 2))])
    try await audience.until("the rejection") { heard in
      heard.events("message_rejected").last?["message"]?.text?
        .contains("`threadkeeper routers remove \(router.agent)`") == true
    }
    #expect(try await installation.command("routers", "remove", router.agent).status == 0)
    try await publisher.publish([router.announces(try home.hex(at: 2))])
    try await audience.until("the router's dataset") {
      $0.state(router.topic)?["active_timestamp"] == 2
    }
    #expect(try await installation.json("status")["teams"]?["abandoned_ids"] == [])
    #expect(try await again.stop() == .exit(0))
  }
}
