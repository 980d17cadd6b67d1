// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("Alerts of a whole home")
struct AlertHomeTests {
  let keeper: Keeper
  let home = SampleNetwork.home

  init() throws { keeper = try Keeper.settled() }

  @Test("Of a migration to new keys that all follow within the hold only the change is told")
  func migration() throws {
    try keeper.announce(Agent.garage, .home, at: 5)
    try keeper.pass(30)
    _ = try keeper.takeAlertNames()
    let moved = home.with {
      $0.channel = 20
      $0.networkKey = "0badc0de0badc0de0badc0de0badc0de"
    }
    for agent in [Agent.garage, Agent.attic, Agent.living] {
      try keeper.announce(agent, moved, at: 6)
      for _ in 0..<9 { try keeper.pass(1) }
    }
    try keeper.pass(60)
    #expect(try keeper.takeAlertNames() == ["alert_raised"])
    #expect(try keeper.firing() == ["PlaintextCredentials anna", "PreferredNetworkChanged"])
    #expect(try keeper.preferred() == (try moved.dataset(at: 6)))
  }

  @Test("One that stays behind is named")
  func leftBehind() throws {
    let moved = home.with { $0.channel = 20 }
    try keeper.announce(Agent.living, moved, at: 6)
    for _ in 0..<35 { try keeper.pass(1) }
    #expect(
      try keeper.firing() == ["PlaintextCredentials anna", "StaleDataset \(Agent.attic)"])
    try keeper.announce(Agent.attic, moved, at: 6)
    #expect(try keeper.firing() == ["PlaintextCredentials anna"])
  }

  @Test("A home without a preferred network is told so, until the first dataset comes")
  func noPreferredNetwork() throws {
    let keeper = try Keeper()
    try keeper.pass(60)
    #expect(try keeper.firing().isEmpty)
    try keeper.say(.announce, Agent.living)
    try keeper.pass(30)
    #expect(
      try keeper.firing() == ["CredentialsMissing \(Agent.living)", "NoPreferredNetwork"])
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.pass(30)
    #expect(try keeper.firing() == ["PlaintextCredentials anna"])
  }

  @Test("No preferred network is no matter when no router is left")
  func noRouterLeft() throws {
    let keeper = try Keeper()
    try keeper.say(.announce, Agent.living)
    try keeper.pass(30)
    try keeper.say(.leave, Agent.living)
    #expect(try keeper.firing().isEmpty)
  }

  @Test("Who sends keys unsealed is named once, until its last router left")
  func plaintext() throws {
    try keeper.announce(Agent.garage, .home, at: 5, user: "bert")
    try keeper.pass(30)
    #expect(try keeper.firing() == ["PlaintextCredentials anna", "PlaintextCredentials bert"])
    try keeper.say(.leave, Agent.living)
    #expect(try keeper.firing().contains("PlaintextCredentials anna"))
    try keeper.say(.leave, Agent.attic)
    #expect(try keeper.firing() == ["PlaintextCredentials bert"])
  }

  @Test("A heartbeat-only login of the team does not keep that alert alive for ever")
  func plaintextOfTwoLogins() throws {
    let keeper = try Keeper(teams: ["anna": "family", "bert": "family"])
    try keeper.announce(Agent.living, .home, at: 5, user: "anna")
    try keeper.pass(30)
    try keeper.say(.heartbeat, Agent.living, user: "bert")
    try keeper.say(.leave, Agent.living, user: "anna")
    #expect(try keeper.firing().isEmpty)
    try keeper.announce(Agent.living, .home, at: 5, user: "anna")
    try keeper.pass(30)
    try keeper.say(.heartbeat, Agent.living, user: "bert")
    try keeper.say(.leave, Agent.living, user: "bert")
    try keeper.restart()
    #expect(try keeper.firing().isEmpty)
  }

  @Test("Alerts of routers that are gone are cleared at start")
  func orphans() throws {
    try keeper.say(.offline, Agent.living)
    try keeper.say(.offline, Agent.attic)
    try keeper.pass(30)
    try keeper.announce(Agent.garage, .guest, at: 1)
    // As a crash of an older version, or a hand in the registry, could leave it.
    try keeper.database.write { tx in
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.living).bytes))
      try tx.execute(
        "UPDATE router SET present = 0 WHERE agent = ?", .blob(try agent(Agent.attic).bytes))
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.garage).bytes))
    }
    _ = try keeper.takeAlertNames()
    try keeper.restart()
    #expect(try keeper.alert(.borderRouterOffline, Agent.living)?.phase == .resolved)
    #expect(try keeper.alert(.borderRouterOffline, Agent.attic)?.phase == .resolved)
    #expect(try keeper.alert(.preferredNetworkMismatch, Agent.garage) == nil)
    // Two routers, and the user that speaks for none any more.
    #expect(try keeper.takeAlertNames() == Array(repeating: "alert_resolved", count: 3))
  }

  @Test("At start every router is checked anew")
  func reevaluation() throws {
    // As an older version could have left it: a mismatch that nobody was told.
    try keeper.database.write { tx in
      let stored = try #require(
        try keeper.store.credential(of: try agent(Agent.attic), in: "home", tx))
      try keeper.store.update(
        stored, to: try SampleNetwork.guest.dataset(at: 1), followsPreferred: true, tx)
    }
    try keeper.restart()
    try keeper.pass()
    #expect(try keeper.router(Agent.attic)?.preferred == "mismatch")
    #expect(try keeper.credential(Agent.attic)?.followsPreferred == false)
    #expect(try keeper.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
    try keeper.pass(30)
    #expect(try keeper.firing().contains("PreferredNetworkMismatch \(Agent.attic)"))
  }
}
