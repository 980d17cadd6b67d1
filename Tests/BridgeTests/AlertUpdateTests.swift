// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What is told of an alert")
struct AlertUpdateTests {
  let keeper: Keeper

  init() throws { keeper = try Keeper.settled() }

  @Test("Only something new is told: other facts, not the same again or another occasion")
  func update() throws {
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.pass(30)
    _ = try keeper.takeAlertNames()
    for _ in 0..<3 { try keeper.announce(Agent.living, .guest, at: 1) }
    try keeper.say(.ssid, Agent.living, ["ssid": "a", "previous_ssid": "b"])
    try keeper.say(.dataset, Agent.living, ["dataset": try SampleNetwork.guest.dataset(at: 2).hex])
    #expect(try keeper.takeAlertNames().isEmpty)
    try keeper.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try keeper.takeAlertNames() == ["alert_updated"])
    let alert = try #require(try keeper.alert(.preferredNetworkMismatch, Agent.living))
    #expect(alert.sequence == 2)
    #expect(alert.facts.routerName == "Living room")
    let name = SampleNetwork.guest.with { $0.name = "other" }
    try keeper.announce(Agent.living, name, at: 3)
    #expect(try keeper.takeAlertNames() == ["alert_updated"])
  }

  @Test("What is found out while it is held is in it when it is raised")
  func amend() throws {
    try keeper.announce(Agent.living, .guest, at: 1)
    let began = keeper.clock.now()
    try keeper.pass(20)
    try keeper.say(.announce, Agent.living, ["name": "Living room"])
    #expect(try keeper.takeAlertNames().isEmpty)
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
    #expect(try keeper.takeAlertNames() == ["alert_raised"])
  }
}
