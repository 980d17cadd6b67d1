// SPDX-License-Identifier: Apache-2.0

import Bridge
import HomeStore
import Settings
import StatusPage
import TestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperDaemon

@Suite("A home on the status page")
struct PageStateTests {
  /// A router on each of three networks, of which `home` is preferred and `guest-thread` was only seen, and one without.
  private func sample() throws -> SampleHome {
    var sample = SampleHome()
    try sample.publish(.announce, 2, on: .home) { $0.vendor = "Acme" }
    try sample.publish(.announce, 1, on: SampleNetwork.home.with(other))
    try sample.publish(.announce, 4, on: .home)
    try sample.publish(.announce, 3)
    try sample.publish(.offline, 3) { $0.offlineReason = .frozen }
    try sample.publish(.leave, 4)
    try sample.see(9, on: .guest)
    sample.tick(after: 31)
    return sample
  }

  private func other(_ network: inout SampleNetwork) {
    (network.extendedPANID, network.name) = ("5555555566666666", "other")
  }

  private func shown(_ sample: SampleHome) throws -> PageState.Home {
    let state = PageState(
      HomeSnapshot(homes: ["home": sample.home]), Settings(stateDirectory: "/dev/null"), health: [],
      events: [], isDiscovering: true, at: sample.now)
    return try #require(state.homes.first)
  }

  @Test("The preferred network comes first, and routers without a network last")
  func order() throws {
    let home = try shown(try sample())
    #expect(home.networks.map(\.name) == ["home", "guest-thread", "other", ""])
    #expect(home.networks.map(\.preferable) == [true, true, true, false])
    #expect(
      home.networks.map { $0.routers.map { $0.seen == nil } } == [
        [false], [true], [false], [false],
      ]
    )
    #expect(home.networks.map { $0.routers.map(\.onlySeen) }[1] == [true])
    #expect(!home.undecided && home.more == 0)
    #expect(home.networks.allSatisfy { $0.credentials })
  }

  @Test("A router has its remarks and its worst alert")
  func remarks() throws {
    let home = try shown(try sample())
    #expect(home.networks[0].routers[0].notes == [] && home.networks[0].routers[0].fault == nil)
    #expect(home.networks[0].routers[0].make == "Acme")
    #expect(home.networks[2].routers[0].notes == ["not on the preferred network"])
    #expect(home.networks[3].routers[0].notes == ["does not answer"])
    #expect(home.networks[3].routers[0].fault == "warning")
  }

  @Test("A home without a preferred network whose routers are on several is undecided")
  func undecided() throws {
    var sample = try sample()
    sample.request(.forgetPreferred)
    #expect(try shown(sample).undecided)
    // By its Extended PAN ID alone.
    let guest = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
    sample.request(.setPreferred(.network(guest, router: nil)))
    let home = try shown(sample)
    #expect(!home.undecided && home.networks[0].name == "guest-thread")
    #expect(home.networks[0].credentials == false)
  }

  @Test("A network that is only shared is shown as such, and can be preferred")
  func shared() throws {
    var sample = try sample()
    try sample.share(SampleNetwork.guest)
    try sample.share(
      SampleNetwork.home.with { ($0.extendedPANID, $0.name) = ("7777777788888888", "attic") })
    let home = try shown(sample)
    #expect(home.networks.map(\.name) == ["home", "attic", "guest-thread", "other", ""])
    #expect(home.networks.map(\.sharedBy) == [[], ["ha"], ["ha"], [], []])
    #expect(home.networks[1].preferable && home.networks[1].routers.isEmpty)
    sample.request(.forgetPreferred)
    #expect(try shown(sample).undecided)
    var alone = SampleHome()
    try alone.publish(.announce, 2, on: .home)
    try alone.share(SampleNetwork.guest)
    alone.request(.forgetPreferred)
    #expect(try !shown(alone).undecided, "routers are on one network only")
  }

  @Test("A question about credentials that somebody offers is marked")
  func offers() throws {
    var sample = SampleHome()
    try sample.see(9, on: .guest)
    let guest = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
    sample.request(.setPreferred(.network(guest, router: nil)))
    try sample.share(SampleNetwork.guest)
    let state = PageState(
      HomeSnapshot(homes: ["home": sample.home]), Settings(stateDirectory: "/dev/null"), health: [],
      events: [], isDiscovering: true, at: sample.now)
    #expect(state.consents.map(\.offers) == [true])
    #expect(state.consents.first?.reason.contains("Use them?") == true)
    #expect(state.consents.first?.networks == ["guest-thread"])
    let network = try #require(state.homes.first?.networks.first)
    #expect(network.preferred && !network.credentials && network.sharedBy == ["ha"])
  }

  @Test("More routers than can be drawn are counted, and monitoring keeps fewer still")
  func tooMany() throws {
    var sample = SampleHome()
    for agent in 1...UInt64(PageState.routersShown) + 2 {
      try sample.publish(.announce, agent, on: .home)
    }
    let home = try shown(sample)
    #expect(home.networks[0].routers.count == PageState.routersShown && home.more == 2)
    let seen = HomeMetrics([("home", sample.home)], now: nil).all.first {
      $0.name == "threadkeeper_router_last_seen_timestamp_seconds"
    }
    #expect(seen?.samples.count == HomeMetrics.routersListed)
  }

  @Test("A router is new that joined the preferred network and was not there before")
  func isNew() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home)
    sample.now = sample.now.adding(seconds: 1)
    sample.handle(.sightings(.init([])))
    sample.now = sample.now.adding(seconds: 4_000)
    try sample.see(9, on: .home)
    #expect(try shown(sample).networks[0].routers.map(\.isNew) == [false, true])
  }
}
