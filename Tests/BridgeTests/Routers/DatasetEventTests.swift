// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Datasets that are older, in conflict, or of another network")
struct DatasetEventTests {
  let bridge: TestBridge
  let home = SampleNetwork.home

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 5)
    _ = try bridge.takeEvents()
  }

  private func report(_ network: SampleNetwork, at seconds: UInt64) throws -> EventRecord {
    try bridge.say(.dataset, Agent.living, ["dataset": try network.dataset(at: seconds).hex])
    return try #require(try bridge.takeEvents().first { !$0.types.isEmpty })
  }

  @Test("An older one is ignored, and said")
  func older() throws {
    let event = try report(home, at: 4)
    #expect(event.types == .datasetIgnored)
    #expect(event.detail.reason == "older")
    #expect(try bridge.credential(Agent.living)?.dataset == (try home.dataset(at: 5)))
    #expect(try bridge.router(Agent.living)?.credential == .stale)
    #expect(try bridge.router(Agent.living)?.activeSeconds == 5)
  }

  @Test("One of the same age with other content is a conflict: not stored, never silent")
  func conflict() throws {
    let event = try report(home.with { $0.channel = 20 }, at: 5)
    #expect(event.types == .datasetIgnored)
    #expect(event.detail.reason == "conflict")
    #expect(event.detail.differs == ["channel"])
    #expect(try bridge.credential(Agent.living)?.dataset == (try home.dataset(at: 5)))
    #expect(try bridge.router(Agent.living)?.credential == .conflict)
    #expect(try bridge.network(.home)?.channel == 15)
  }

  @Test("The stored one again, or a newer one, puts things right")
  func mended() throws {
    for seconds in [5, 6] as [UInt64] {
      _ = try report(home.with { $0.channel = 20 }, at: 5)
      try bridge.announce(Agent.living, home, at: seconds)
      #expect(try bridge.router(Agent.living)?.credential == .stored)
      _ = try bridge.takeEvents()
      if seconds == 5 { #expect(try bridge.router(Agent.living)?.activeSeconds == 5) }
    }
  }

  @Test("An announcement without a dataset leaves an ignored one ignored")
  func announceAfterIgnored() throws {
    _ = try report(home, at: 4)
    try bridge.say(.announce, Agent.living)
    #expect(try bridge.router(Agent.living)?.credential == .stale)
  }

  @Test("Another network is a move, however old, and names where it came from")
  func move() throws {
    let event = try report(.guest, at: 1)
    #expect(event.types == .datasetUpdated)
    #expect(event.detail.previousExtendedPANID == home.extendedPANID)
    #expect(event.detail.differs == ["network_key", "ext_pan_id", "network_name"])
    #expect(event.detail.networkName == "guest-thread")
    #expect(event.network?.description == SampleNetwork.guest.extendedPANID)
    #expect(
      try bridge.credential(Agent.living)?.dataset == (try SampleNetwork.guest.dataset(at: 1)))
    #expect(try bridge.network(.guest)?.routers == 1)
    #expect(try bridge.network(.home)?.routers == 0)
  }

  @Test("A network without routers is forgotten, unless it is the preferred one")
  func emptyNetwork() throws {
    _ = try report(.guest, at: 1)
    #expect(try bridge.network(.home) != nil)
    _ = try report(.home, at: 6)
    #expect(try bridge.network(.guest) == nil)
    #expect(try bridge.network(.home)?.routers == 1)
  }

  @Test("An untrusted router that names the preferred network's id does not change how it is shown")
  func untrustedRouter() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    let before = try bridge.network(.home)
    let evil = SampleNetwork.home.with {
      $0.name = "evil"
      $0.channel = 26
    }
    try bridge.receive([
      try bridge.message(
        .announce, Agent.attic, user: "eve", ["dataset": try evil.dataset(at: 1 << 20).hex])
    ])
    let after = try bridge.network(.home)
    #expect(after?.routers == 2)
    #expect(after?.name == before?.name)
    #expect(after?.channel == before?.channel)
    #expect(after?.activeSeconds == before?.activeSeconds)
  }

  @Test("A network shows the newest dataset of its routers, whichever came first in a batch")
  func shownDataset() throws {
    for order in [[7, 9], [9, 7]] as [[UInt64]] {
      let bridge = try TestBridge()
      try bridge.announce(Agent.garage, .guest, at: 1)
      try bridge.receive(
        [Agent.living, Agent.attic].enumerated().map { index, agent in
          let network = home.with { $0.channel = UInt16(11 + order[index]) }
          return try bridge.message(
            .announce, agent, ["dataset": try network.dataset(at: order[index]).hex])
        })
      #expect(try bridge.network(.home)?.activeSeconds == 9)
      #expect(try bridge.network(.home)?.channel == 20)
      #expect(try bridge.network(.home)?.routers == 2)
    }
  }

  @Test("Unknown TLVs are stored as they came")
  func unknown() throws {
    let dataset = try home.dataset(at: 6).replacing(.other(TLV(type: 170, value: [1, 2, 3])))
    try bridge.say(.dataset, Agent.living, ["dataset": dataset.hex])
    #expect(try bridge.credential(Agent.living)?.dataset.hex == dataset.hex)
  }

  @Test("No event row, state or alert holds a secret")
  func secrets() throws {
    _ = try report(home.with { $0.channel = 20 }, at: 5)
    _ = try report(.guest, at: 1)
    try bridge.pass(31)
    try bridge.say(.leave, Agent.living)
    let rows = try bridge.database.read { tx in
      try tx.all("SELECT detail FROM event WHERE detail IS NOT NULL") { $0.text(0) }
        + tx.all("SELECT facts FROM alert") { $0.text(0) }
    }
    #expect(!rows.isEmpty)
    for text in rows.map({ $0.lowercased() }) {
      for secret in [home.networkKey, home.pskc, SampleNetwork.guest.networkKey] {
        #expect(!text.contains(secret.prefix(8)))
      }
    }
  }
}
