// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Starting with other settings")
struct BridgeStartTests {
  @Test("A home of the settings has a row, and keeps it with everything in it")
  func homes() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    let before = try bridge.home()
    #expect(before.baseTopic == "threadkeeper")
    bridge.configuration.topics = BaseTopics([
      .init(name: "cabin", base: "lets/cabin"), .init(name: "home", base: "threadkeeper"),
    ])
    #expect(try bridge.start().isEmpty)
    #expect(try bridge.home().id == before.id)
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.home("cabin").routers == 0)
  }

  @Test(
    "A base topic that was given up is named once, also when its home is gone or has another name")
  func retired() throws {
    let bridge = try TestBridge()
    bridge.configuration.topics = BaseTopics([.init(name: "home", base: "new")])
    #expect(try bridge.start().map(\.base) == ["threadkeeper"])
    // The process may end before the broker has emptied all of it: so it is named again until then.
    #expect(try bridge.start().map(\.base) == ["threadkeeper"])
    try bridge.settleBases()
    #expect(try bridge.start().isEmpty)
    bridge.configuration.topics = BaseTopics([.init(name: "house", base: "other")])
    let retired = try bridge.start()
    #expect(retired.map(\.base) == ["new"])
    #expect(retired.map(\.home) == ["home"])
    try bridge.settleBases()
    #expect(try bridge.start().isEmpty)
    // It comes back: nothing of it is on the broker, so nothing is to be emptied.
    bridge.configuration.topics = BaseTopics([
      .init(name: "house", base: "other"), .init(name: "home", base: "new"),
    ])
    #expect(try bridge.start().isEmpty)
    try bridge.settleBases()
    #expect(try bridge.home().baseTopic == "new")
  }

  @Test("Who only looks or deletes does not use up the note of a base topic that was given up")
  func lookingOn() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    bridge.configuration.topics = BaseTopics([.init(name: "home", base: "new")])
    try BridgeRegistry.prepare(
      bridge.configuration, keychain: bridge.temporary.keychain, clock: bridge.clock)
    _ = try bridge.removeCredential(of: Agent.living)
    #expect(try bridge.start().map(\.base) == ["threadkeeper"])
  }

  @Test("What the registry shows is what is there")
  func registry() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .guest, at: 1)
    try bridge.say(.announce, Agent.garage)
    try bridge.say(.leave, Agent.garage)
    try bridge.pass(30)
    try bridge.announce(Agent.attic, .home, at: 1)
    let registry = BridgeRegistry(bridge.database)
    let home = try #require(try registry.homes().first)
    #expect(try registry.routers(in: home).map(\.agent.description) == [Agent.living, Agent.attic])
    #expect(try registry.networks(in: home).map(\.name) == ["home"])
    #expect(try registry.alerts(in: home, all: false).map(\.name) == [.plaintextCredentials])
    #expect(
      Set(try registry.alerts(in: home, all: true).map(\.name)) == [
        .plaintextCredentials, .preferredNetworkMismatch,
      ])
  }

  @Test(
    "Deleted by hand: the router stays, its credentials are missing, and there is nothing twice")
  func removal() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .guest, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    func remove() throws -> Bool {
      try bridge.removeCredential(of: Agent.attic)
    }
    #expect(try remove())
    #expect(try !remove())
    #expect(try bridge.credential(Agent.attic) == nil)
    let router = try #require(try bridge.router(Agent.attic))
    #expect(router.isPresent && router.credential == .missing && router.network == nil)
    #expect(try bridge.network(.home) == nil)
    #expect(try bridge.home().routers == 2)
    try bridge.pass(30)
    #expect(
      try bridge.firing() == [
        "CredentialsMissing \(Agent.attic)", "PlaintextCredentials anna",
      ])
    try Recount(bridge: bridge, comment: "removal").check()
  }
}
