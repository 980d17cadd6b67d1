// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("An adoption is done when the router is attached")
struct AdoptionAttachTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
    try bridge.say(
      .heartbeat, Agent.living,
      ["ext_pan_id": SampleNetwork.guest.extendedPANID, "thread_state": "router"])
    try scene.sent()
    #expect(try scene.state == .sent)
  }

  private func says(_ kind: InboundEventKind, _ state: String, on network: SampleNetwork) throws {
    var fields = ["ext_pan_id": network.extendedPANID, "thread_state": state]
    if kind == .dataset { fields["dataset"] = scene.home.hex }
    try bridge.say(kind, Agent.living, fields)
  }

  @Test("Configured and detached is not done; attached on the network is, by a heartbeat")
  func attached() throws {
    try says(.dataset, "detached", on: .home)
    #expect(try scene.state == .sent && scene.stored == scene.home)
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(
      try bridge.alert(.preferredNetworkMismatch, Agent.living)?.facts.summary
        == #""Living room" was given the credentials of "home" and is not attached to it"#)
    try bridge.pass(30)
    try says(.heartbeat, "child", on: .home)
    #expect(try scene.state == nil && scene.adoption == nil)
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    #expect(try !scene.isMismatchFiring && scene.failure == nil)
  }

  @Test("Configured while it runs on the other network comes to a timeout whose alert explains it")
  func elsewhere() throws {
    try says(.dataset, "router", on: .guest)
    #expect(try scene.state == .sent)
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    try bridge.pass(301)
    #expect(try scene.failure?.reason == "timeout")
    #expect(
      try scene.failure?.summary
        == #""Living room" has the credentials of "home" that it was sent, and is not attached to it"#
    )
    // It gets there after all.
    try says(.heartbeat, "router", on: .home)
    #expect(try scene.state == nil && scene.failure == nil && scene.adoption == nil)
    #expect(try bridge.router(Agent.living)?.preferred == "match")
  }

  @Test("A restart in between loses nothing")
  func restarted() throws {
    try says(.dataset, "detached", on: .home)
    try scene.restart()
    try bridge.pass(1)
    #expect(try scene.state == .sent)
    try says(.heartbeat, "leader", on: .home)
    #expect(try scene.state == nil && bridge.router(Agent.living)?.preferred == "match")
  }

  @Test("A publisher that does not report it is done with its dataset, as before")
  func unreported() throws {
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && bridge.router(Agent.living)?.preferred == "match")
  }
}
