// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What is published of an alert")
struct AlertUpdateTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge.settled() }

  @Test("Only something new is published: other facts, not the same again or another occasion")
  func update() throws {
    try bridge.announce(Agent.living, .guest, at: 1)
    try bridge.pass(30)
    _ = try bridge.takeAlertNames()
    for _ in 0..<3 { try bridge.announce(Agent.living, .guest, at: 1) }
    try bridge.say(.ssid, Agent.living, ["ssid": "a", "previous_ssid": "b"])
    try bridge.say(.dataset, Agent.living, ["dataset": try SampleNetwork.guest.dataset(at: 2).hex])
    #expect(try bridge.takeAlertNames().isEmpty)
    try bridge.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try bridge.takeAlertNames() == ["alert_updated"])
    let alert = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.living))
    #expect(alert.sequence == 2)
    #expect(alert.facts.routerName == "Living room")
    let name = SampleNetwork.guest.with { $0.name = "other" }
    try bridge.announce(Agent.living, name, at: 3)
    #expect(try bridge.takeAlertNames() == ["alert_updated"])
  }

  @Test("What is found out while it is held is in it when it is raised")
  func amend() throws {
    try bridge.announce(Agent.living, .guest, at: 1)
    let began = bridge.clock.now()
    try bridge.pass(20)
    try bridge.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try bridge.takeAlertNames().isEmpty)
    try bridge.pass(10)
    let alert = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.living))
    #expect(alert.facts.routerName == "Living room")
    #expect(alert.startsAt == began)
    #expect(alert.sequence == 1)
  }

  @Test("It comes back as the same alert, held again, and counts on")
  func again() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(30)
    try bridge.say(.heartbeat, Agent.living)
    let resolved = try #require(try bridge.alert(.borderRouterOffline, Agent.living))
    try bridge.pass(100)
    try bridge.say(.offline, Agent.living)
    let held = try #require(try bridge.alert(.borderRouterOffline, Agent.living))
    #expect(held.phase == .held)
    #expect(held.heldSince == bridge.clock.now())
    // Back within the hold: it is what it was.
    try bridge.say(.heartbeat, Agent.living)
    let back = try #require(try bridge.alert(.borderRouterOffline, Agent.living))
    #expect(back.phase == .resolved)
    #expect(back.endsAt == resolved.endsAt)
    #expect(back.sequence == resolved.sequence)
    try bridge.say(.offline, Agent.living)
    let since = bridge.clock.now()
    try bridge.pass(30)
    let firing = try #require(try bridge.alert(.borderRouterOffline, Agent.living))
    #expect(firing.fingerprint == resolved.fingerprint)
    #expect(firing.sequence == 3)
    #expect(firing.startsAt == since)
    #expect(firing.endsAt == nil)
  }

  @Test("A resolved alert is forgotten after a day")
  func forget() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(30)
    try bridge.say(.heartbeat, Agent.living)
    bridge.configuration.offlineAfter = 0
    try bridge.pass(86_399)
    #expect(try bridge.alert(.borderRouterOffline, Agent.living) != nil)
    _ = try bridge.takeEvents()
    try bridge.pass(1)
    #expect(try bridge.alert(.borderRouterOffline, Agent.living) == nil)
    let event = try #require(try bridge.takeEvents().first)
    #expect(event.types.isEmpty)
    #expect(event.alert != nil)
  }

  @Test("Without a hold an alert is raised at once")
  func noHold() throws {
    bridge.configuration.alertsHold = 0
    try bridge.say(.offline, Agent.living)
    #expect(try bridge.alert(.borderRouterOffline, Agent.living)?.phase == .firing)
    #expect(try bridge.takeAlertNames() == ["alert_raised"])
  }
}
