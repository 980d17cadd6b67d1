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

  init() throws { keeper = try Keeper.settled() }

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
    Case(name: .routerDetached) {
      try $0.say(.heartbeat, Agent.living, ["thread_state": "detached"])
    } end: {
      try $0.say(.heartbeat, Agent.living, ["thread_state": "router"])
    },
  ]

  @Test("All alerts of routers are tried here, but for the one that has a suite of its own")
  func complete() {
    #expect(Set(Self.cases.map(\.name) + [.adoptionFailed]) == Set(AlertName.ofRouters))
  }

  @Test("It is held, raised when it has lasted, and resolved", arguments: cases)
  func life(of alert: Case) throws {
    try alert.begin(keeper)
    let began = keeper.clock.now()
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .held)
    try keeper.pass(29)
    #expect(try keeper.alert(alert.name, Agent.living)?.phase == .held)
    #expect(try keeper.takeNames(of: alert.name).isEmpty)
    try keeper.pass(1)
    let raised = try #require(try keeper.alert(alert.name, Agent.living))
    #expect(raised.phase == .firing)
    #expect(raised.startsAt == began)
    #expect(raised.endsAt == nil)
    #expect(raised.facts.router == Agent.living)
    #expect(try keeper.takeNames(of: alert.name) == ["alert_raised"])
    #expect(try keeper.firing().contains("\(alert.name.rawValue) \(Agent.living)"))
    try alert.end(keeper)
    let resolved = try #require(try keeper.alert(alert.name, Agent.living))
    #expect(resolved.phase == .resolved)
    #expect(resolved.endsAt == keeper.clock.now())
    #expect(resolved.sequence == raised.sequence + 1)
    #expect(try keeper.takeNames(of: alert.name) == ["alert_resolved"])
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
    #expect(try keeper.takeNames(of: alert.name).isEmpty)
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
    _ = try keeper.takeAlertNames()
    try keeper.restart()
    for _ in 0..<3 { try keeper.pass(10) }
    #expect(try keeper.takeNames(of: alert.name).isEmpty)
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
}
