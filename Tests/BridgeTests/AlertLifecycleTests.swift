// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("Alerts over time")
struct AlertLifecycleTests {
  let keeper: Keeper
  let home = SampleNetwork.home

  init() throws {
    keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 5)
    try keeper.announce(Agent.attic, .home, at: 5)
    // The alert about unsealed keys is the same in all of these.
    try keeper.pass(30)
    _ = try keeper.takeEvents()
  }

  /// The words for alerts since the last call.
  private func told() throws -> [String] {
    try keeper.takeNames().filter { $0.hasPrefix("alert_") }
  }

  /// The same for one alert of the living room's router.
  private func told(_ name: AlertName) throws -> [String] {
    let fingerprint = AlertFingerprint(home: "home", name: name, subject: Agent.living)
    return try keeper.takeEvents().filter { $0.alert == fingerprint }.flatMap { event in
      OutboundEventTypes.names.filter { event.types.contains($0.type) }.map(\.name)
    }
  }

  // MARK: Each alert of a router

  /// What brings an alert up, and what ends it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: AlertName
    let begin: @Sendable (Keeper) throws -> Void
    let end: @Sendable (Keeper) throws -> Void

    var testDescription: String { name.rawValue }
  }

  static let cases: [Case] = [
    Case(name: .preferredNetworkMismatch) {
      try $0.announce(Agent.living, .guest, at: 1)
    } end: {
      try $0.announce(Agent.living, .home, at: 5)
    },
    Case(name: .datasetConflict) {
      try $0.announce(Agent.living, SampleNetwork.home.with { $0.channel = 20 }, at: 5)
    } end: {
      try $0.announce(Agent.living, .home, at: 5)
    },
    Case(name: .staleDataset) {
      try $0.announce(Agent.living, .home, at: 4)
    } end: {
      try $0.announce(Agent.living, .home, at: 5)
    },
    Case(name: .credentialsMissing) {
      try $0.say(.leave, Agent.living)
      try $0.say(.announce, Agent.living)
    } end: {
      try $0.announce(Agent.living, .home, at: 5)
    },
    Case(name: .borderRouterOffline) {
      try $0.say(.offline, Agent.living)
    } end: {
      try $0.say(.heartbeat, Agent.living)
    },
    Case(name: .wellKnownNetworkKey) {
      try $0.announce(
        Agent.living,
        SampleNetwork.home.with { $0.networkKey = "00112233445566778899aabbccddeeff" }, at: 6)
    } end: {
      try $0.announce(Agent.living, .home, at: 7)
    },
  ]

  @Test("All alerts of routers are tried here, but for the one that has a suite of its own")
  func complete() {
    #expect(Self.cases.map(\.name) + [.adoptionFailed] == AlertName.ofRouters)
  }

  @Test("It is held, raised when it has lasted, and resolved", arguments: cases)
  func life(of alert: Case) throws {
    try alert.begin(keeper)
    let began = keeper.clock.now()
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .held)
    try keeper.pass(29)
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .held)
    #expect(try told(alert.name).isEmpty)
    try keeper.pass(1)
    let raised = try #require(try keeper.alert(alert.name, Agent.living))
    #expect(raised.phase == .firing)
    #expect(raised.startsAt == began)
    #expect(raised.endsAt == nil)
    #expect(raised.facts.router == Agent.living)
    #expect(try told(alert.name) == ["alert_raised"])
    #expect(try keeper.firing().contains("\(alert.name.rawValue) \(Agent.living)"))
    try alert.end(keeper)
    let resolved = try #require(try keeper.alert(alert.name, Agent.living))
    #expect(resolved.phase == .resolved)
    #expect(resolved.endsAt == keeper.clock.now())
    #expect(resolved.sequence == raised.sequence + 1)
    #expect(try told(alert.name) == ["alert_resolved"])
    #expect(try !keeper.firing().contains("\(alert.name.rawValue) \(Agent.living)"))
  }

  @Test("It is dropped without a word when it ends within the hold", arguments: cases)
  func drop(of alert: Case) throws {
    try alert.begin(keeper)
    try keeper.pass(29)
    try alert.end(keeper)
    #expect(try keeper.alert(alert.name, Agent.living) == nil)
    try keeper.pass(60)
    #expect(try keeper.alert(alert.name, Agent.living) == nil)
    #expect(try told(alert.name).isEmpty)
  }

  @Test("A restart does not begin the hold anew", arguments: cases)
  func restart(with alert: Case) throws {
    try alert.begin(keeper)
    let began = keeper.clock.now()
    for _ in 0..<3 {
      try keeper.pass(9)
      try keeper.restart()
      try keeper.pass()
    }
    #expect(try keeper.alert(alert.name, Agent.living)?.heldSince == began)
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .held)
    try keeper.pass(3)
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .firing)
  }

  @Test("A restart tells nothing again", arguments: cases)
  func restartWhileFiring(with alert: Case) throws {
    try alert.begin(keeper)
    try keeper.pass(30)
    let raised = try #require(try keeper.alert(alert.name, Agent.living))
    _ = try told()
    try keeper.restart()
    for _ in 0..<3 { try keeper.pass(10) }
    #expect(try told(alert.name).isEmpty)
    #expect(try keeper.alert(alert.name, Agent.living)?.sequence == raised.sequence)
  }

  @Test("When the router leaves it is resolved, or dropped", arguments: cases)
  func leave(with alert: Case) throws {
    try alert.begin(keeper)
    try keeper.say(.leave, Agent.living)
    #expect(try keeper.alert(alert.name, Agent.living) == nil)
    try keeper.announce(Agent.living, .home, at: 5)
    try alert.begin(keeper)
    try keeper.pass(30)
    try keeper.say(.leave, Agent.living)
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .resolved)
    #expect(try keeper.firing().allSatisfy { !$0.contains(Agent.living) })
  }

  // MARK: What is told

  @Test("Only something new is told: other facts, not the same again or another occasion")
  func update() throws {
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.pass(30)
    _ = try told()
    for _ in 0..<3 { try keeper.announce(Agent.living, .guest, at: 1) }
    try keeper.say(.ssid, Agent.living, ["ssid": "a", "previous_ssid": "b"])
    try keeper.say(.dataset, Agent.living, ["dataset": try SampleNetwork.guest.dataset(at: 2).hex])
    #expect(try told().isEmpty)
    try keeper.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try told() == ["alert_updated"])
    let alert = try #require(try keeper.alert(.preferredNetworkMismatch, Agent.living))
    #expect(alert.sequence == 2)
    #expect(alert.facts.routerName == "Living room")
    let name = SampleNetwork.guest.with { $0.name = "other" }
    try keeper.announce(Agent.living, name, at: 3)
    #expect(try told() == ["alert_updated"])
  }

  @Test("What is found out while it is held is in it when it is raised")
  func amend() throws {
    try keeper.announce(Agent.living, .guest, at: 1)
    let began = keeper.clock.now()
    try keeper.pass(20)
    try keeper.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try told().isEmpty)
    try keeper.pass(10)
    let alert = try #require(try keeper.alert(.preferredNetworkMismatch, Agent.living))
    #expect(alert.facts.routerName == "Living room")
    #expect(alert.startsAt == began)
    #expect(alert.sequence == 1)
  }

  @Test("It comes back as the same alert, held again, and counts on")
  func again() throws {
    try keeper.say(.offline, Agent.living)
    try keeper.pass(30)
    try keeper.say(.heartbeat, Agent.living)
    let resolved = try #require(try keeper.alert(.borderRouterOffline, Agent.living))
    try keeper.pass(100)
    try keeper.say(.offline, Agent.living)
    let held = try #require(try keeper.alert(.borderRouterOffline, Agent.living))
    #expect(held.phase == .held)
    #expect(held.heldSince == keeper.clock.now())
    // Back within the hold: it is what it was.
    try keeper.say(.heartbeat, Agent.living)
    let back = try #require(try keeper.alert(.borderRouterOffline, Agent.living))
    #expect(back.phase == .resolved)
    #expect(back.endsAt == resolved.endsAt)
    #expect(back.sequence == resolved.sequence)
    try keeper.say(.offline, Agent.living)
    let since = keeper.clock.now()
    try keeper.pass(30)
    let firing = try #require(try keeper.alert(.borderRouterOffline, Agent.living))
    #expect(firing.fingerprint == resolved.fingerprint)
    #expect(firing.sequence == 3)
    #expect(firing.startsAt == since)
    #expect(firing.endsAt == nil)
  }

  @Test("A resolved alert is forgotten after a day")
  func forget() throws {
    try keeper.say(.offline, Agent.living)
    try keeper.pass(30)
    try keeper.say(.heartbeat, Agent.living)
    keeper.configuration.offlineAfter = 0
    try keeper.pass(86_399)
    #expect(try keeper.alert(.borderRouterOffline, Agent.living) != nil)
    _ = try keeper.takeEvents()
    try keeper.pass(1)
    #expect(try keeper.alert(.borderRouterOffline, Agent.living) == nil)
    let event = try #require(try keeper.takeEvents().first)
    #expect(event.types.isEmpty)
    #expect(event.alert != nil)
  }

  @Test("Without a hold an alert is raised at once")
  func noHold() throws {
    keeper.configuration.alertsHold = 0
    try keeper.say(.offline, Agent.living)
    #expect(try keeper.alert(.borderRouterOffline, Agent.living)?.phase == .firing)
    #expect(try told() == ["alert_raised"])
  }

  // MARK: A whole home

  @Test("A migration that every router follows within the hold raises none")
  func migration() throws {
    try keeper.announce(Agent.garage, .home, at: 5)
    try keeper.pass(30)
    _ = try told()
    let moved = home.with {
      $0.channel = 20
      $0.networkKey = "0badc0de0badc0de0badc0de0badc0de"
    }
    for agent in [Agent.garage, Agent.attic, Agent.living] {
      try keeper.announce(agent, moved, at: 6)
      for _ in 0..<9 { try keeper.pass(1) }
    }
    try keeper.pass(60)
    #expect(try told().isEmpty)
    #expect(try keeper.firing() == ["PlaintextCredentials anna"])
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
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.living).octets))
      try tx.execute(
        "UPDATE router SET present = 0 WHERE agent = ?", .blob(try agent(Agent.attic).octets))
      try tx.execute("DELETE FROM router WHERE agent = ?", .blob(try agent(Agent.garage).octets))
    }
    _ = try told()
    try keeper.restart()
    #expect(try keeper.alert(.borderRouterOffline, Agent.living)?.phase == .resolved)
    #expect(try keeper.alert(.borderRouterOffline, Agent.attic)?.phase == .resolved)
    #expect(try keeper.alert(.preferredNetworkMismatch, Agent.garage) == nil)
    // Two routers, and the user that speaks for none any more.
    #expect(try told() == Array(repeating: "alert_resolved", count: 3))
  }

  @Test("At start every router is checked anew")
  func reevaluation() throws {
    // As an older version could have left it: a mismatch that nobody was told.
    try keeper.database.write { tx in
      let stored = try #require(
        try store(keeper).credential(of: try agent(Agent.attic), in: "home", tx))
      try store(keeper).update(
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

  private func store(_ keeper: Keeper) -> ThreadCredentialStore { keeper.store }
}
