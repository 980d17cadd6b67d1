// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing

@testable import Bridge

@Suite("Starting with other settings")
struct BridgeStartTests {
  @Test("A home of the settings has a row, and keeps it with everything in it")
  func homes() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1)
    let before = try keeper.home()
    #expect(before.baseTopic == "threadkeeper")
    keeper.configuration.topics = BaseTopics([
      .init(name: "cabin", base: "lets/cabin"), .init(name: "home", base: "threadkeeper"),
    ])
    #expect(try keeper.start().isEmpty)
    #expect(try keeper.home().id == before.id)
    #expect(try keeper.home().routers == 1)
    #expect(try keeper.home("cabin").routers == 0)
  }

  @Test(
    "A base topic that was given up is named once, also when its home is gone or has another name")
  func retired() throws {
    let keeper = try Keeper()
    keeper.configuration.topics = BaseTopics([.init(name: "home", base: "new")])
    #expect(try keeper.start().map(\.base) == ["threadkeeper"])
    // The process may end before the broker has emptied all of it: so it is named again until then.
    #expect(try keeper.start().map(\.base) == ["threadkeeper"])
    try keeper.settleBases()
    #expect(try keeper.start().isEmpty)
    keeper.configuration.topics = BaseTopics([.init(name: "house", base: "other")])
    let retired = try keeper.start()
    #expect(retired.map(\.base) == ["new"])
    #expect(retired.map(\.home) == ["home"])
    try keeper.settleBases()
    #expect(try keeper.start().isEmpty)
    // It comes back: nothing of it is on the broker, so nothing is to be emptied.
    keeper.configuration.topics = BaseTopics([
      .init(name: "house", base: "other"), .init(name: "home", base: "new"),
    ])
    #expect(try keeper.start().isEmpty)
    try keeper.settleBases()
    #expect(try keeper.home().baseTopic == "new")
  }

  @Test("Who only looks or deletes does not use up the note of a base topic that was given up")
  func lookingOn() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1)
    keeper.configuration.topics = BaseTopics([.init(name: "home", base: "new")])
    try BridgeRegistry.prepare(
      keeper.configuration, keychain: keeper.temporary.keychain, clock: keeper.clock)
    _ = try keeper.removeCredential(of: Agent.living)
    #expect(try keeper.start().map(\.base) == ["threadkeeper"])
  }

  @Test("What the registry shows is what is there")
  func registry() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .guest, at: 1)
    try keeper.say(.announce, Agent.garage)
    try keeper.say(.leave, Agent.garage)
    try keeper.pass(30)
    try keeper.announce(Agent.attic, .home, at: 1)
    let registry = BridgeRegistry(keeper.database)
    let home = try #require(try registry.homes().first)
    #expect(try registry.routers(in: home).map(\.agent.description) == [Agent.living, Agent.attic])
    #expect(try registry.networks(in: home).map(\.name) == ["home"])
    #expect(try registry.alerts(in: home, all: false).map(\.name) == [.plaintextCredentials])
    #expect(
      Set(try registry.alerts(in: home, all: true).map(\.name)) == [
        .plaintextCredentials, .preferredNetworkMismatch,
      ])
    #expect(try registry.activeAlerts(in: home) == 1)
  }

  @Test(
    "Deleted by hand: the router stays, its credentials are missing, and there is nothing twice")
  func removal() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.announce(Agent.attic, .home, at: 1)
    func remove() throws -> Bool {
      try keeper.removeCredential(of: Agent.attic)
    }
    #expect(try remove())
    #expect(try !remove())
    #expect(try keeper.credential(Agent.attic) == nil)
    let router = try #require(try keeper.router(Agent.attic))
    #expect(router.isPresent && router.credential == .missing && router.network == nil)
    #expect(try keeper.network(.home) == nil)
    #expect(try keeper.home().routers == 2)
    try keeper.pass(30)
    #expect(
      try keeper.firing() == [
        "CredentialsMissing \(Agent.attic)", "PlaintextCredentials anna",
      ])
    try Recount(keeper: keeper, comment: "removal").check()
  }
}
