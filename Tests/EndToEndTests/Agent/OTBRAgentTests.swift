// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The agent beside routers that answer as real ones do, a broker and a daemon.
@Suite("The agent of OpenThread Border Routers", .inTurns, .timeLimit(.minutes(30)))
struct OTBRAgentTests {
  private let place: OTBRHome

  init() throws { place = try OTBRHome() }

  private var broker: TestBroker { place.broker }
  private var installation: Installation { place.installation }
  private var home: ThreadNetwork { place.home }
  private var guest: ThreadNetwork { place.guest }

  private func topic(_ agent: String) -> String { place.topic(agent) }

  @Test(
    "Where it is, its Thread state and its dataset are published as they change; a stop is offline")
  func changes() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(2)
    let id = try routers.order(0, "form", home.hex()).agent
    try routers.order(1, "form", home.hex())
    // One process for both.
    let agent = try place.agent(routers, 0, 1)
    try await audience.until("the announcement") {
      let state = $0.state(topic(id))
      return state?["thread_state"] == "leader" && state?["preferred"] == "match"
        && state?["current_ext_pan_id"]?.text == home.extendedPANID && state?["name"] == "Attic"
    }
    // A dataset set while Thread runs: it shows at once, and the router stays where it is.
    try routers.order(1, "set", "mgmt_seconds 600")
    let other = try routers.order(1, "mgmt_set", guest.hex()).agent
    try await audience.until("configured for one network and on another") {
      let state = $0.state(topic(other))
      return state?["ext_pan_id"]?.text == guest.extendedPANID
        && state?["current_ext_pan_id"]?.text == home.extendedPANID
        && state?["preferred"] == "mismatch"
    }
    try await audience.until("the alert that says both") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").contains {
        $0["summary"]?.text?.hasSuffix(
          #" is on "home" (\#(home.extendedPANID)) and configured for "guest""#) == true
      }
    }
    // It loses its network: the changed dataset is published all the same.
    try routers.order(0, "set", "never_attaches true")
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await audience.until("detached, with the new dataset") {
      let state = $0.state(topic(id))
      return state?["thread_state"] == "detached" && state?["channel"] == 20
    }
    try await audience.until("the alert about it") {
      $0.alerts("alert_raised", "RouterDetached").contains {
        $0["router"]?.text == id && $0["summary"]?.text?.contains("detached since 2") == true
      }
    }
    let table = try await installation.command("routers").output
    #expect(table.contains("detached") && table.contains(" on \(home.extendedPANID)"))
    #expect(
      try await installation.command("status").output.contains(
        "1 detached, 1 not on the network that they are configured for"))
    try routers.order(0, "set", "never_attaches false")
    try await audience.until("attached again") {
      $0.state(topic(id))?["thread_state"] == "leader"
        && $0.alerts("alert_resolved", "RouterDetached").count == 1
    }
    #expect(
      audience.look { $0.events("message_rejected").isEmpty && $0.events("router_left").isEmpty })
    #expect(agent.end() == .exit(0))
    try await audience.until("both offline") { heard in
      [id, other].allSatisfy { heard.state(topic($0))?["availability"] == "offline" }
    }
    var needles = Needles()
    needles.add("network key", home.networkKey)
    #expect(needles.found(in: Data(agent.output.utf8)) == [])
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Refused, frozen, stopped and garbage are offline with the reason; none of them is a leave")
  func offline() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let agent = try place.agent(routers)
    func until(_ reason: String?, isOnline: Bool) async throws {
      try await audience.until(reason ?? (isOnline ? "online" : "offline")) {
        $0.state(topic(id))?["offline_reason"]?.text == reason
          && $0.state(topic(id))?["availability"]?.text == (isOnline ? "online" : "offline")
      }
    }
    try await until(nil, isOnline: true)
    for (bad, good, reason, words) in [
      ("refuse", "listen", "unreachable", "is it off?"),
      ("freeze", "thaw", "frozen", "it is frozen"),
      ("disable", "enable", "stopped", "Thread is stopped on it"),
    ] {
      try routers.order(0, bad)
      try await until(reason, isOnline: false)
      try await audience.until("the alert") {
        $0.alerts("alert_raised", "BorderRouterOffline").last?["reason"]?.text == reason
      }
      try routers.order(0, good)
      try await until(nil, isOnline: true)
      #expect(agent.output.contains(words), "\(agent.output)")
    }
    try routers.order(0, "set", "mode \"garbage\"")
    try await until(nil, isOnline: false)
    try routers.order(0, "set", "mode \"modern\"")
    try await until(nil, isOnline: true)
    #expect(agent.output.contains("it does not answer as its REST interface should"))
    #expect(audience.look { $0.events("router_left").isEmpty })
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("After a factory reset the old id leaves, and the new one is announced")
  func reset() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let old = try routers.order(0, "form", home.hex()).agent
    let agent = try place.agent(routers)
    try await audience.until("the old one") { $0.state(topic(old)) != nil }
    let new = try routers.order(0, "reset").agent
    try await audience.until("the leave") { $0.latest[topic(old)] == "" }
    try routers.order(0, "form", home.hex())
    try await audience.until("the new one") { $0.state(topic(new))?["thread_state"] == "leader" }
    // The other way round: it has a network again before anybody looks.
    let third = try routers.order(0, "reset").agent
    try routers.order(0, "form", home.hex())
    try await audience.until("the third one") {
      $0.latest[topic(new)] == "" && $0.state(topic(third))?["thread_state"] == "leader"
    }
    #expect(
      try await installation.json("routers").list.map { $0["border_agent_id"]?.text } == [third])
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "An agent that dies has a last will for each router, and threadkeeper learns them anew later")
  func lastWill() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(2)
    let ids = try [0, 1].map { try routers.order($0, "form", home.hex()).agent }
    let first = try place.agent(routers, 0, 1)
    func until(_ availability: String) async throws {
      try await audience.until("both \(availability)") { heard in
        ids.allSatisfy { heard.state(topic($0))?["availability"]?.text == availability }
      }
    }
    try await until("online")
    first.signal(SIGKILL)
    try await until("offline")
    let second = try place.agent(routers, 0, 1)
    try await until("online")
    // Removed while its agent runs: the next heartbeat is rejected, and the router announced.
    let removed = try #require(ids.first)
    #expect(try await installation.command("routers", "remove", removed).status == 0)
    try await audience.until("the removal, and the router again") { heard in
      heard.events("router_left").contains { $0["border_agent_id"]?.text == removed }
        && heard.state(topic(removed))?["credentials"] == "stored"
    }
    #expect(second.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("An enrolled router publishes sealed and signed messages only")
  func sealed() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let key = installation.directory.file("router.key")
    let made = try await installation.clientKeygen(key)
    #expect(
      try await installation.command("clients", "enroll", "attic", made, "--trust", "signed").status
        == 0)
    Recorder.current?.allPublishersAreEnrolled()
    let line = try await installation.daemonLine()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let agent = try AgentProcess(
      .otbr, [routers.url(0)], broker: broker, in: installation.directory, "--key", key, "--daemon",
      line)
    try await audience.until("the announcement") {
      $0.state(topic(id))?["thread_state"] == "leader"
    }
    try routers.order(0, "freeze")
    try await audience.until("offline") { $0.state(topic(id))?["offline_reason"] == "frozen" }
    try routers.order(0, "thaw")
    try await audience.until("a heartbeat") { $0.state(topic(id))?["availability"] == "online" }
    try routers.order(0, "reset")
    try await audience.until("the leave") { $0.latest[topic(id)] == "" }
    #expect(agent.end() == .exit(0))
    var needles = Needles()
    needles.add("network key", home.networkKey)
    audience.look { heard in
      #expect(heard.events("message_rejected").isEmpty)
      for message in heard.messages where message.topic.hasPrefix("threadkeeper/in/") {
        #expect(String(decoding: message.payload, as: UTF8.self).hasPrefix(#"{"sealed""#))
        #expect(needles.found(in: Data(message.payload)) == [])
      }
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Two routers of one process swap their addresses: both stay listed, and neither leaves")
  func swap() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(2)
    let ids = try [0, 1].map { try routers.order($0, "form", home.hex()).agent }
    let agent = try place.agent(routers, 0, 1)
    func state(_ id: String, _ heard: Audience.Heard) -> JSON? { heard.state(topic(id)) }
    try await audience.until("both") { heard in
      ids.allSatisfy { state($0, heard)?["availability"] == "online" }
    }
    #expect(try routers.order(0, "swap", "1").agent == ids[1])
    try await eventually("the end of the old connections") {
      agent.output.contains("it has another address now")
    }
    // From its new address each is followed as before.
    for (router, channel) in [(0, 20), (1, 21)] {
      try routers.order(router, "form", home.hex(at: UInt64(channel), channel: UInt16(channel)))
    }
    try await audience.until("a change of each, online") { heard in
      state(ids[1], heard)?["channel"] == 20 && state(ids[0], heard)?["channel"] == 21
        && ids.allSatisfy { state($0, heard)?["availability"] == "online" }
    }
    #expect(agent.end() == .exit(0))
    try await audience.until("both offline") { heard in
      ids.allSatisfy { state($0, heard)?["availability"] == "offline" }
    }
    #expect(audience.look { $0.events("router_left").isEmpty })
    #expect(
      Set(try await installation.json("routers").list.compactMap { $0["border_agent_id"]?.text })
        == Set(ids))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that answers without an address is announced once it has one")
  func withoutAddress() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let paths = ["/node", "/node/ba-id", "/node/ext-address"]
    for path in paths { try routers.order(0, "fail", "GET \(path) 500") }
    let agent = try place.agent(routers)
    try await eventually("the message") { agent.output.contains("warning") }
    for path in paths { try routers.order(0, "fail", "GET \(path) 0") }
    try await audience.until("the router") {
      $0.state(topic(id))?["preferred"] == "match"
    }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }
}
