// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("A whole home that moves to another network")
struct HomeMoveTests {
  let bridge: TestBridge
  private let agents = [Agent.living, Agent.attic, Agent.garage]

  init() throws {
    bridge = try TestBridge()
    for agent in agents { try bridge.announce(agent, .home, at: 1) }
  }

  private func firing() throws -> [String] {
    try bridge.firing().filter { !$0.hasPrefix("Plaintext") }
  }

  @Test("Is one alert with one remedy, which resolves it")
  func moved() throws {
    for agent in agents { try bridge.announce(agent, .guest, at: 1) }
    try bridge.pass(30)
    try bridge.pass(1)
    #expect(try firing() == ["HomeMoved"])
    let facts = try #require(try bridge.alert(.homeMoved)).facts
    #expect(
      facts.summary
        == #"all 3 border routers of the preferred network "home" are on "guest-thread" now"#)
    let id = SampleNetwork.guest.extendedPANID
    #expect(facts.remedy.contains("`threadkeeper preferred set \(id)`"))
    var request = ThreadRequest(.setPreferred)
    request.network = ExtendedPANID(hex: id)
    _ = try bridge.command(request).result()
    #expect(try bridge.alert(.homeMoved)?.phase == .resolved)
    #expect(try firing() == ["PreferredNetworkChanged"])
    for agent in agents { #expect(try bridge.router(agent)?.preferred == "match") }
  }

  @Test("Takes the place of alerts that were raised for its first routers, without a hold too")
  func replaces() throws {
    bridge.configuration.alertsHold = 0
    try bridge.announce(Agent.living, .guest, at: 1)
    #expect(try firing() == ["PreferredNetworkMismatch \(Agent.living)"])
    try bridge.announce(Agent.attic, .guest, at: 1)
    try bridge.announce(Agent.garage, .guest, at: 1)
    #expect(try firing() == ["HomeMoved"])
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.garage) == nil)
  }

  @Test("Is each router's own alert again when the home splits")
  func splits() throws {
    for agent in agents { try bridge.announce(agent, .guest, at: 1) }
    try bridge.pass(30)
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(try bridge.alert(.homeMoved)?.phase == .resolved)
    try bridge.pass(30)
    #expect(
      try firing()
        == [
          "PreferredNetworkMismatch \(Agent.garage)", "PreferredNetworkMismatch \(Agent.attic)",
        ].sorted())
  }

  @Test("Is still one alert after a restart, and ends when its routers leave")
  func restart() throws {
    for agent in agents { try bridge.announce(agent, .guest, at: 1) }
    try bridge.pass(30)
    try bridge.restart()
    try bridge.pass(1)
    #expect(try firing() == ["HomeMoved"])
    for agent in agents.dropLast() { try bridge.say(.leave, agent) }
    #expect(try bridge.alert(.homeMoved)?.phase == .resolved)
    try bridge.pass(30)
    #expect(try firing() == ["PreferredNetworkMismatch \(Agent.garage)"])
  }

  @Test("Is none where a person has chosen a network without routers")
  func chosen() throws {
    var request = ThreadRequest(.setPreferred)
    request.dataset = try SampleNetwork.guest.dataset(at: 1)
    _ = try bridge.command(request).result()
    try bridge.pass(30)
    #expect(try bridge.alert(.homeMoved) == nil)
    #expect(try firing().count { $0.hasPrefix("PreferredNetworkMismatch") } == 3)
  }

  @Test("A router that was never on the preferred network changes nothing of it")
  func outsider() throws {
    let other = SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }
    try bridge.announce("0102030405060708", other, at: 1)
    for agent in agents { try bridge.announce(agent, .guest, at: 1) }
    try bridge.pass(30)
    #expect(
      try firing() == ["HomeMoved", "PreferredNetworkMismatch 0102030405060708"])
  }

  // MARK: - The policy

  private let home = ExtendedPANID(hex: SampleNetwork.home.extendedPANID)
  private let guest = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
  private let third = ExtendedPANID(hex: "5555555566666666")

  private func destination(
    _ places: [(network: ExtendedPANID?, isOnline: Bool, routers: Int)]
  ) -> ExtendedPANID? {
    HomeMove.destination(
      of: places.map { .init(network: $0.network, isOnline: $0.isOnline, routers: $0.routers) },
      preferred: home)
  }

  @Test("All of at least two members on one other network have moved, offline or online")
  func together() {
    #expect(destination([(guest, true, 2)]) == guest)
    #expect(destination([(guest, true, 1), (guest, false, 1)]) == guest)
    #expect(destination([(guest, true, 1)]) == nil)
    #expect(destination([]) == nil)
    #expect(HomeMove.destination(of: [], preferred: nil) == nil)
  }

  @Test("One that is still there, or elsewhere, keeps the home from having moved")
  func apart() {
    #expect(destination([(guest, true, 5), (home, true, 1)]) == nil)
    #expect(destination([(guest, true, 5), (third, true, 1)]) == nil)
    #expect(destination([(guest, true, 5), (third, false, 1)]) == nil)
  }

  @Test("Who cannot be reached and was last at home, or has no dataset, does not count")
  func unknown() {
    #expect(destination([(guest, true, 2), (home, false, 3), (nil, true, 1)]) == guest)
  }
}
