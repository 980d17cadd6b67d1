import Foundation
import TestKit
import Testing
import ThreadDataset

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

  @Test("Refused, frozen, stopped and garbage are offline with the reason; a factory reset alone is a leave")
  func offline() async throws {
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
    try routers.order(0, "set", "mode \"garbage\"")
    try await until("failing", isOnline: false)
    try routers.order(0, "set", "mode \"modern\"")
    try await until(nil, isOnline: true)
    for path in ["/node", "/node/state"] { try routers.order(0, "fail", "GET \(path) 500") }
    try await running.until("the status") {
      $0.alerts("alert_raised", "BorderRouterOffline").last?["summary"]?.text?.contains("HTTP status 500") == true
    }
    for path in ["/node", "/node/state"] { try routers.order(0, "fail", "GET \(path) 0") }
    try await until(nil, isOnline: true)
    #expect(agent.output.contains("it does not answer as its REST interface should"))
    #expect(running.audience.look { $0.events("router_left").isEmpty })

    let new = try routers.order(0, "reset").agent
    try await running.until("the leave") { $0.latest[topic(id)] == "" }
    try routers.order(0, "form", home.hex())
    try await running.until("the new one") { $0.state(topic(new))?["thread_state"] == "leader" }
    // The other way round: it has a network again before anybody looks.
    let third = try routers.order(0, "reset").agent
    try routers.order(0, "form", home.hex())
    try await running.until("the third one") {
      $0.latest[topic(new)] == "" && $0.state(topic(third))?["thread_state"] == "leader"
    }
    let listed = try await running.installation.json("routers").list
    #expect(listed.map { $0["border_agent_id"]?.text } == [third])
    #expect(agent.end() == .exit(0))
    try await running.stop()
  }

  @Test("A dataset that is not complete is kept, with what it lacks, and is never preferred") func partial()
    async throws
  {
    let installation = running.installation
    let routers = try await ThreadRouters(1)
    let partial = try home.hex(lacking: [.channelMask, .pskc])
    let id = try routers.order(0, "form", partial).agent
    let agent = try agent(routers, 0)
    try await running.until("what is kept") {
      $0.state(topic(id))?["credentials"] == "partial"
        && $0.alerts("alert_raised", "CredentialsMissing").contains {
          $0["summary"]?.text?.contains("Channel Mask and PSKc are missing") == true
        }
    }
    // The router has its elements in an order of its own.
    let kept = try await installation.json("credentials", "get", id, "--show-secrets")
    let dataset = try OperationalDataset(hex: kept["dataset"]?.text ?? "")
    #expect(try dataset.bytes.sorted() == OperationalDataset(hex: partial).bytes.sorted())
    #expect(kept["lacks"] == ["Channel Mask", "PSKc"])
    #expect(try await installation.run("credentials", "list").contains("Channel Mask, PSKc"))
    #expect(try await installation.run("routers").contains("partial"))
    let refused = try await installation.command("preferred", "set", home.extendedPANID, "--router", id)
    #expect(refused.status == 65 && refused.error.contains("it lacks Channel Mask, PSKc"))
    #expect(try await installation.command("preferred", "show").status == 66)

    try routers.order(0, "form", home.hex())
    try await running.until("the whole one") {
      $0.state(topic(id))?["credentials"] == "stored" && $0.state(topic(id))?["preferred"] == "match"
        && !$0.alerts("alert_resolved", "CredentialsMissing").isEmpty
    }
    #expect(agent.end() == .exit(0))
    #expect(agent.output.contains("it lacks Channel Mask, PSKc"))
    var needles = Needles()
    needles.add(home)
    #expect(needles.found(in: agent.output) == [])
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
