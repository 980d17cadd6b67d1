import Foundation
import Testing

@Suite("Routers, teams and homes", .inTurns, .timeLimit(.minutes(30))) struct RouterChangeTests {
  @Test("A login that `teams` lists later gets its router back by a removal, as the start and status say")
  func teamMadeLater() async throws {
    let running = try await RunningHome()
    let installation = running.installation
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1, user: "hub")
    let other = BorderRouter(number: 2, user: "other")
    try await running.publish(router.announces(try home.hex()), other.announces(try home.hex()))
    try await running.until("both routers") { $0.state(router.topic) != nil && $0.state(other.topic) != nil }
    let teams = try await installation.status()["teams"]
    #expect(teams?["empty"] == [] && teams?["abandoned_ids"] == [])
    #expect(!running.daemon.log.contains("nobody speaks for"))
    try await running.stop()

    let settings = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    try Data((settings + "\nteams: {crew: [hub, attic], nobody: []}\n").utf8).write(
      to: URL(fileURLWithPath: installation.configuration))
    try await running.start()
    for words in [
      "border agent ids belong to a team that nobody speaks for", "threadkeeper routers remove \(router.agent)",
      "no user belongs to a team of the settings",
    ] { #expect(running.daemon.log.contains(words)) }
    let status = try await installation.run("status")
    #expect(status.contains("\nowners       \(router.agent) belongs to the team `hub`"), "\(status)")
    #expect(status.contains("\nteams        no user belongs to the team `nobody`"), "\(status)")
    let found = try await installation.status()["teams"]
    #expect(found?["empty"] == ["nobody"])
    #expect(found?["abandoned_ids"] == [["home": "home", "border_agent_id": .text(router.agent), "team": "hub"]])

    try await running.publish(router.changes(to: try home.hex(at: 2)))
    try await running.until("the rejection") { heard in
      heard.events("message_rejected").last?["message"]?.text?.contains("`threadkeeper routers remove \(router.agent)`")
        == true
    }
    try await installation.run("routers", "remove", router.agent)
    try await running.publish(router.announces(try home.hex(at: 2)))
    try await running.until("the router's dataset") { $0.state(router.topic)?["active_timestamp"] == 2 }
    #expect(try await installation.status()["teams"]?["abandoned_ids"] == [])
    try await running.stop()
  }

  @Test("Each of 60 homes has its own topics and routers, and keeps them over a restart") func manyHomes() async throws
  {
    let count = 60
    let homes = (1...count).map { "  home-\($0): {base_topic: tk/home-\($0)}" }
    let running = try await RunningHome(more: "homes:\n" + homes.joined(separator: "\n"))
    let installation = running.installation
    let last = BorderRouter("a1b2c3d4e5f60701", base: "tk/home-\(count)")
    let other = BorderRouter("a1b2c3d4e5f60701", base: "tk/home-30")
    try await running.publish(last.announces(try ThreadNetwork("last").hex()), other.says("announce"))
    try await running.until("both routers") {
      $0.state(last.topic)?["credentials"] == "stored" && $0.state(other.topic)?["credentials"] == "missing"
        && $0.state("tk/home-\(count)/bridge/info")?["routers"] == 1
    }
    try await running.until("all homes") { heard in
      (1...count).allSatisfy {
        heard.state("tk/home-\($0)/bridge/state") == ["state": "online"]
          && heard.state("tk/home-\($0)/bridge/info")?["home"]?.text == "home-\($0)"
      }
    }
    #expect(running.state(last.topic)?["home"]?.text == "home-\(count)")
    #expect(running.state("tk/home-1/bridge/info")?["routers"] == 0)
    let states = running.audience.look { heard in
      heard.latest.keys.filter { $0.contains("/router/") && $0.hasSuffix(last.agent) }
    }
    #expect(Set(states) == [other.topic, last.topic])
    let status = try await installation.status()
    #expect(status["homes"]?.number == Int64(count))
    #expect(status["routers"] == 2 && status["credentials"] == 1)
    #expect(status["preferred_networks"]?.list.map { $0["home"]?.text } == ["home-\(count)"])
    #expect(try await installation.json("routers").list.map { $0["home"]?.text } == ["home-30", "home-\(count)"])

    try await running.restart()
    try await running.publish(last.leaves)
    try await running.until("the leave, in one home only") {
      $0.latest[last.topic] == "" && $0.latest[other.topic] != ""
    }
    #expect(try await installation.status()["routers"] == 1)
    try await running.stop()
    #expect(try installation.verify().matchesManifest)
  }
}
