import Foundation
import TestKit
import Testing

/// The agent beside routers that answer as real ones do, a broker and a daemon. What it publishes when:
/// `RouterMachineTests` and `RouterCensusTests`; under seal: `OTBRAgentAdoptionTests`.
@Suite("The agent of OpenThread Border Routers", .inTurns, .timeLimit(.minutes(30))) struct OTBRAgentTests {
  private let running: RunningHome
  private let home: ThreadNetwork
  private let guest: ThreadNetwork

  init() async throws {
    running = try await RunningHome()
    home = try ThreadNetwork("home")
    guest = try ThreadNetwork("guest")
  }

  /// One process for these routers. The first is called Attic.
  private func agent(_ routers: ThreadRouters, _ numbers: Int...) throws -> AgentProcess {
    try AgentProcess(
      .otbr, numbers.map { routers.url($0) }, broker: running.broker, in: running.installation.directory, "--name",
      "Attic")
  }

  private func topic(_ agent: String) -> String { "threadkeeper/router/\(agent)" }

  @Test("Where it is, its Thread state and its dataset are published as they change; its end is offline") func changes()
    async throws
  {
    let installation = running.installation
    let routers = try await ThreadRouters(2)
    let id = try routers.order(0, "form", home.hex()).agent
    try routers.order(1, "form", home.hex())
    // One process for both.
    let first = try agent(routers, 0, 1)
    try await running.until("the announcement") {
      let state = $0.state(topic(id))
      return state?["thread_state"] == "leader" && state?["preferred"] == "match"
        && state?["current_ext_pan_id"]?.text == home.extendedPANID && state?["name"] == "Attic"
    }
    // A dataset set while Thread runs: it shows at once, and the router stays where it is.
    try routers.order(1, "set", "mgmt_seconds 600")
    let other = try routers.order(1, "mgmt_set", guest.hex()).agent
    try await running.until("configured for one network and on another") {
      let state = $0.state(topic(other))
      return state?["ext_pan_id"]?.text == guest.extendedPANID
        && state?["current_ext_pan_id"]?.text == home.extendedPANID && state?["preferred"] == "mismatch"
    }
    try await running.until("the alert that says both") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").contains {
        $0["summary"]?.text?.hasSuffix(#" is on "home" (\#(home.extendedPANID)) and configured for "guest""#) == true
      }
    }
    // It loses its network: the changed dataset is published all the same.
    try routers.order(0, "set", "never_attaches true")
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await running.until("detached, with the new dataset") {
      let state = $0.state(topic(id))
      return state?["thread_state"] == "detached" && state?["channel"] == 20
    }
    try await running.until("the alert about it") {
      $0.alerts("alert_raised", "RouterDetached").contains {
        $0["router"]?.text == id && $0["summary"]?.text?.contains("detached since 2") == true
      }
    }
    let table = try await installation.run("routers")
    #expect(table.contains("detached") && table.contains(" on \(home.extendedPANID)"))
    #expect(
      try await installation.run("status").contains("1 detached, 1 not on the network that they are configured for"))
    try routers.order(0, "set", "never_attaches false")
    try await running.until("attached again") {
      $0.state(topic(id))?["thread_state"] == "leader" && !$0.alerts("alert_resolved", "RouterDetached").isEmpty
    }
    func until(_ availability: String) async throws {
      try await running.until("both \(availability)") { heard in
        [id, other].allSatisfy { heard.state(topic($0))?["availability"]?.text == availability }
      }
    }
    #expect(first.end() == .exit(0))
    try await until("offline")
    #expect(running.audience.look { $0.events("message_rejected").isEmpty && $0.events("router_left").isEmpty })

    // One that dies has a last will for each router.
    let second = try agent(routers, 0, 1)
    try await until("online")
    second.signal(SIGKILL)
    try await until("offline")
    let third = try agent(routers, 0, 1)
    try await until("online")
    // Removed while its agent runs: the next heartbeat is rejected, and the router announced.
    try await installation.run("routers", "remove", id)
    try await running.until("the removal, and the router again") { heard in
      heard.events("router_left").contains { $0["border_agent_id"]?.text == id }
        && heard.state(topic(id))?["credentials"] == "stored"
    }
    #expect(third.end() == .exit(0))
    var needles = Needles()
    needles.add(home)
    for agent in [first, second, third] { #expect(needles.found(in: agent.output) == []) }
    try await running.stop()
  }

  @Test("Refused, frozen and stopped are offline with the reason; a factory reset alone is a leave") func offline()
    async throws
  {
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let agent = try agent(routers, 0)
    func until(_ reason: String?, isOnline: Bool) async throws {
      try await running.until(reason ?? (isOnline ? "online" : "offline")) {
        $0.state(topic(id))?["offline_reason"]?.text == reason
          && $0.state(topic(id))?["availability"]?.text == (isOnline ? "online" : "offline")
      }
    }
    try await until(nil, isOnline: true)
    for (bad, good, reason, words) in [
      ("refuse", "listen", "unreachable", "is it off?"), ("freeze", "thaw", "frozen", "it is frozen"),
      ("disable", "enable", "stopped", "Thread is stopped on it"),
    ] {
      try routers.order(0, bad)
      try await until(reason, isOnline: false)
      try await running.until("the alert") {
        $0.alerts("alert_raised", "BorderRouterOffline").last?["reason"]?.text == reason
      }
      try routers.order(0, good)
      try await until(nil, isOnline: true)
      #expect(agent.output.contains(words), "\(agent.output)")
    }
    #expect(running.audience.look { $0.events("router_left").isEmpty })

    let new = try routers.order(0, "reset").agent
    try await running.until("the leave") { $0.latest[topic(id)] == "" }
    try routers.order(0, "form", home.hex())
    try await running.until("the new one") { $0.state(topic(new))?["thread_state"] == "leader" }
    let listed = try await running.installation.json("routers").list
    #expect(listed.map { $0["border_agent_id"]?.text } == [new])
    #expect(agent.end() == .exit(0))
    try await running.stop()
  }

  /// Another user of the router's machine takes the place of its REST interface.
  @Test(
    "An untrusted listener is sent nothing, the router is offline, and --router-user trusts it",
    .enabled(if: getuid() == 0, "only root can be two users")) func untrusted() async throws
  {
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let agent = try agent(routers, 0)
    func untilOnline() async throws {
      try await running.until("online") { $0.state(topic(id))?["availability"] == "online" }
    }
    try await untilOnline()
    try routers.order(0, "refuse")
    let received = running.installation.directory.file("received")
    let impostor = try Impostor.start(routers.url(0), received)
    // Raised before the other program listens, the alert is updated.
    try await running.until("untrusted") {
      $0.state(topic(id))?["offline_reason"] == "untrusted"
        && $0.alertEvents.last { $0["alertname"] == "BorderRouterOffline" }?["reason"] == "untrusted"
    }
    #expect(agent.output.contains("a program of user \(Impostor.user) listens on port"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: received)).isEmpty)
    // As the router's user it is asked.
    let trusting = try AgentProcess(
      .otbr, [routers.url(0)], broker: running.broker, in: running.installation.directory, "--router-user",
      Impostor.user)
    try await eventually("a request") {
      try String(contentsOfFile: received, encoding: .utf8).hasPrefix("GET /node HTTP/1.1")
    }
    #expect(trusting.end() == .exit(0))
    impostor.signal(SIGKILL)
    try await eventually("the router's own listener") { (try? routers.order(0, "listen")) != nil }
    try await untilOnline()
    #expect(agent.end() == .exit(0))
    try await running.stop()
  }
}
