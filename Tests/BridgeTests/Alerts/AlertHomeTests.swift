// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("Alerts of a whole home")
struct AlertHomeTests {
  let bridge: TestBridge
  let home = SampleNetwork.home

  init() throws { bridge = try TestBridge.settled() }

  @Test("Of a migration to new keys that all follow within the hold only the change is published")
  func migration() throws {
    try bridge.announce(Agent.garage, .home, at: 5)
    try bridge.pass(30)
    _ = try bridge.takeAlertNames()
    let moved = home.with {
      $0.channel = 20
      $0.networkKey = "0badc0de0badc0de0badc0de0badc0de"
    }
    for agent in [Agent.garage, Agent.attic, Agent.living] {
      try bridge.announce(agent, moved, at: 6)
      for _ in 0..<9 { try bridge.pass(1) }
    }
    try bridge.pass(60)
    #expect(try bridge.takeAlertNames() == ["alert_raised"])
    #expect(try bridge.firing() == ["PlaintextCredentials anna", "PreferredNetworkChanged"])
    #expect(try bridge.preferred() == (try moved.dataset(at: 6)))
  }

  @Test("One that stays behind is named")
  func leftBehind() throws {
    let moved = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, moved, at: 6)
    for _ in 0..<35 { try bridge.pass(1) }
    #expect(
      try bridge.firing() == [
        "PlaintextCredentials anna", "PreferredNetworkChanged", "StaleDataset \(Agent.attic)",
      ])
    #expect(try bridge.alert(.preferredNetworkChanged)?.severity == .warning)
    try bridge.announce(Agent.attic, moved, at: 6)
    #expect(try bridge.firing() == ["PlaintextCredentials anna", "PreferredNetworkChanged"])
    #expect(try bridge.alert(.preferredNetworkChanged)?.severity == .info)
  }

  @Test("A home without a preferred network has an alert, until the first dataset comes")
  func noPreferredNetwork() throws {
    let bridge = try TestBridge()
    try bridge.pass(60)
    #expect(try bridge.firing().isEmpty)
    try bridge.say(.announce, Agent.living)
    try bridge.pass(30)
    #expect(
      try bridge.firing() == ["CredentialsMissing \(Agent.living)", "NoPreferredNetwork"])
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.pass(30)
    #expect(try bridge.firing() == ["PlaintextCredentials anna"])
  }

  @Test("No preferred network is no matter when no router is left")
  func noRouterLeft() throws {
    let bridge = try TestBridge()
    try bridge.say(.announce, Agent.living)
    try bridge.pass(30)
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.firing().isEmpty)
  }

  @Test("Who sends keys unsealed is named once, until its last router left")
  func plaintext() throws {
    try bridge.announce(Agent.garage, .home, at: 5, user: "bert")
    try bridge.pass(30)
    #expect(try bridge.firing() == ["PlaintextCredentials anna", "PlaintextCredentials bert"])
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.firing().contains("PlaintextCredentials anna"))
    try bridge.say(.leave, Agent.attic)
    #expect(try bridge.firing() == ["PlaintextCredentials bert"])
  }

  @Test("A heartbeat-only login of the team does not keep that alert alive for ever")
  func plaintextOfTwoLogins() throws {
    let bridge = try TestBridge(teams: ["anna": "family", "bert": "family"])
    try bridge.announce(Agent.living, .home, at: 5, user: "anna")
    try bridge.pass(30)
    try bridge.say(.heartbeat, Agent.living, user: "bert")
    try bridge.say(.leave, Agent.living, user: "anna")
    #expect(try bridge.firing().isEmpty)
    try bridge.announce(Agent.living, .home, at: 5, user: "anna")
    try bridge.pass(30)
    try bridge.say(.heartbeat, Agent.living, user: "bert")
    try bridge.say(.leave, Agent.living, user: "bert")
    try bridge.restart()
    #expect(try bridge.firing().isEmpty)
  }

  @Test("Alerts of routers that are gone are cleared at start")
  func orphans() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.say(.offline, Agent.attic)
    try bridge.pass(30)
    try bridge.announce(Agent.garage, .guest, at: 1)
    // As a crash of an older version, or a hand in the registry, could leave it.
    try bridge.database.write { tx in
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.living).bytes))
      try tx.execute(
        "UPDATE router SET present = 0 WHERE agent = ?", .blob(try agent(Agent.attic).bytes))
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.garage).bytes))
    }
    _ = try bridge.takeAlertNames()
    try bridge.restart()
    #expect(try bridge.alert(.borderRouterOffline, Agent.living)?.phase == .resolved)
    #expect(try bridge.alert(.borderRouterOffline, Agent.attic)?.phase == .resolved)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.garage) == nil)
    // Two routers, and the user that speaks for none any more.
    #expect(try bridge.takeAlertNames() == Array(repeating: "alert_resolved", count: 3))
  }

  @Test("At start every router is checked again")
  func reevaluation() throws {
    // As an older version could have left it: a mismatch without an alert.
    try bridge.database.write { tx in
      let stored = try #require(
        try bridge.store.credential(of: try agent(Agent.attic), in: "home", tx))
      try bridge.store.update(
        stored, to: try SampleNetwork.guest.dataset(at: 1), followsPreferred: true, tx)
    }
    try bridge.restart()
    try bridge.pass()
    #expect(try bridge.router(Agent.attic)?.preferred == "mismatch")
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == false)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
    try bridge.pass(30)
    #expect(try bridge.firing().contains("PreferredNetworkMismatch \(Agent.attic)"))
  }
}
