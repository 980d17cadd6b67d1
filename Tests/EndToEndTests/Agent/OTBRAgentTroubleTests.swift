// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What goes wrong between the agent, its routers and the daemon, and heals.
@Suite("The agent of routers in trouble", .inTurns, .timeLimit(.minutes(30)))
struct OTBRAgentTroubleTests {
  private let place: OTBRHome

  init() throws { place = try OTBRHome() }

  private var home: ThreadNetwork { place.home }
  private var installation: Installation { place.installation }

  @Test("Two routers of one process swap their addresses: both stay listed, and neither leaves")
  func swap() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(2)
    let ids = try [0, 1].map { try routers.order($0, "form", home.hex()).agent }
    let agent = try place.agent(routers, 0, 1)
    func state(_ id: String, _ heard: Audience.Heard) -> JSON? { heard.state(place.topic(id)) }
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

  @Test("A router whose dataset is incomplete is listed, without credentials")
  func incomplete() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(
      0, "partial", "000300000c0102123405100102030405060708090a0b0c0d0e0f10"
    ).agent
    let agent = try place.agent(routers)
    try await audience.until("the router") {
      let state = $0.state(place.topic(id))
      return state?["thread_state"] == "detached" && state?["credentials"] == "missing"
    }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A dataset that was refused for another reason than itself is published again")
  func refusedForAnotherReason() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let agent = try place.agent(routers)
    try await audience.until("the router") {
      $0.state(place.topic(id))?["preferred"] == "match"
    }
    let key = try await installation.clientKeygen(installation.directory.file("attic.key"))
    #expect(
      try await installation.command("clients", "enroll", "attic", key, "--trust", "signed").status
        == 0)
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await eventually("the refusal") {
      agent.output.contains("threadkeeper has rejected dataset (")
    }
    #expect(try await installation.command("clients", "revoke", "attic", "--forget").status == 0)
    try await audience.until("the changed dataset") {
      $0.state(place.topic(id))?["channel"] == 20
    }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that answers without an address is announced once it has one")
  func withoutAddress() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", home.hex()).agent
    let paths = ["/node", "/node/ba-id", "/node/ext-address"]
    for path in paths { try routers.order(0, "fail", "GET \(path) 500") }
    let agent = try place.agent(routers)
    try await eventually("the message") { agent.output.contains("warning") }
    for path in paths { try routers.order(0, "fail", "GET \(path) 0") }
    try await audience.until("the router") {
      $0.state(place.topic(id))?["preferred"] == "match"
    }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }
}
