// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("Alerts over time")
struct AlertLifecycleTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge.settled() }

  /// What brings an alert up, and what ends it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: AlertName
    let begin: @Sendable (TestBridge) throws -> Void
    let end: @Sendable (TestBridge) throws -> Void

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

  @Test("All alerts of routers are tried here, but for those that have suites of their own")
  func complete() {
    #expect(
      Set(Self.cases.map(\.name) + [.adoptionFailed, .unknownRouter]) == Set(AlertName.ofRouters))
  }

  @Test("It is held, raised when it has lasted, and resolved", arguments: cases)
  func life(of alert: Case) throws {
    try alert.begin(bridge)
    let began = bridge.clock.now()
    #expect(try bridge.alert(alert.name, Agent.living)?.phase == .held)
    try bridge.pass(29)
    #expect(try bridge.alert(alert.name, Agent.living)?.phase == .held)
    #expect(try bridge.takeNames(of: alert.name).isEmpty)
    try bridge.pass(1)
    let raised = try #require(try bridge.alert(alert.name, Agent.living))
    #expect(raised.phase == .firing)
    #expect(raised.startsAt == began)
    #expect(raised.endsAt == nil)
    #expect(raised.facts.router == Agent.living)
    #expect(try bridge.takeNames(of: alert.name) == ["alert_raised"])
    #expect(try bridge.firing().contains("\(alert.name.rawValue) \(Agent.living)"))
    try alert.end(bridge)
    let resolved = try #require(try bridge.alert(alert.name, Agent.living))
    #expect(resolved.phase == .resolved)
    #expect(resolved.endsAt == bridge.clock.now())
    #expect(resolved.sequence == raised.sequence + 1)
    #expect(try bridge.takeNames(of: alert.name) == ["alert_resolved"])
    #expect(try !bridge.firing().contains("\(alert.name.rawValue) \(Agent.living)"))
  }

  @Test("It is dropped without a word when it ends within the hold", arguments: cases)
  func drop(of alert: Case) throws {
    try alert.begin(bridge)
    try bridge.pass(29)
    try alert.end(bridge)
    #expect(try bridge.alert(alert.name, Agent.living) == nil)
    try bridge.pass(60)
    #expect(try bridge.alert(alert.name, Agent.living) == nil)
    #expect(try bridge.takeNames(of: alert.name).isEmpty)
  }

  @Test("A restart does not restart the hold", arguments: cases)
  func restart(with alert: Case) throws {
    try alert.begin(bridge)
    let began = bridge.clock.now()
    for _ in 0..<3 {
      try bridge.pass(9)
      try bridge.restart()
      try bridge.pass()
    }
    #expect(try bridge.alert(alert.name, Agent.living)?.heldSince == began)
    #expect(try bridge.alert(alert.name, Agent.living)?.phase == .held)
    try bridge.pass(3)
    #expect(try bridge.alert(alert.name, Agent.living)?.phase == .firing)
  }

  @Test("A restart publishes nothing again", arguments: cases)
  func restartWhileFiring(with alert: Case) throws {
    try alert.begin(bridge)
    try bridge.pass(30)
    let raised = try #require(try bridge.alert(alert.name, Agent.living))
    _ = try bridge.takeAlertNames()
    try bridge.restart()
    for _ in 0..<3 { try bridge.pass(10) }
    #expect(try bridge.takeNames(of: alert.name).isEmpty)
    #expect(try bridge.alert(alert.name, Agent.living)?.sequence == raised.sequence)
  }

  @Test("When the router leaves it is resolved, or dropped", arguments: cases)
  func leave(with alert: Case) throws {
    try alert.begin(bridge)
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.alert(alert.name, Agent.living) == nil)
    try bridge.announce(Agent.living, .home, at: 5)
    try alert.begin(bridge)
    try bridge.pass(30)
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.alert(alert.name, Agent.living)?.phase == .resolved)
    #expect(try bridge.firing().allSatisfy { !$0.contains(Agent.living) })
  }
}
