// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("The preferred network")
struct PreferredNetworkTests {
  let bridge: TestBridge
  let home = SampleNetwork.home

  init() throws {
    bridge = try TestBridge()
  }

  /// Lets the walk that follows a change come to its end.
  private func settle() throws {
    for _ in 0..<3 { try bridge.pass() }
    #expect(try bridge.home().reevaluateAfter == nil)
  }

  @Test("The first network stored becomes preferred, and its router a member")
  func establish() throws {
    try bridge.announce(Agent.living, home, at: 1)
    #expect(try bridge.preferred() == (try home.dataset(at: 1)))
    #expect(try bridge.credential(Agent.living)?.followsPreferred == true)
    #expect(try bridge.home().preferred?.description == home.extendedPANID)
    #expect(try bridge.home().preferredName == "home")
    try bridge.announce(Agent.attic, .guest, at: 1)
    #expect(try bridge.preferred() == (try home.dataset(at: 1)))
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == false)
  }

  @Test("A member's newer dataset moves it, and every other router is checked again")
  func follow() throws {
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, home, at: 1) }
    let moved = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, moved, at: 2)
    #expect(try bridge.preferred() == (try moved.dataset(at: 2)))
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    try settle()
    #expect(try bridge.router(Agent.attic)?.preferred == "mismatch")
    #expect(try bridge.alert(.staleDataset, Agent.attic)?.phase == .held)
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == true)
    try bridge.announce(Agent.attic, moved, at: 2)
    #expect(try bridge.router(Agent.attic)?.preferred == "match")
    #expect(try bridge.alert(.staleDataset, Agent.attic) == nil)
  }

  @Test("A router that drifts from a network at 100 to one at 1 moves, alarms, and drags nothing")
  func drift() throws {
    try bridge.announce(Agent.living, home, at: 100)
    try bridge.announce(Agent.attic, home, at: 100)
    _ = try bridge.takeEvents()
    try bridge.announce(Agent.living, .guest, at: 1)
    #expect(try bridge.takeNames() == ["dataset_updated"])
    #expect(try bridge.preferred() == (try home.dataset(at: 100)))
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(try bridge.credential(Agent.living)?.followsPreferred == false)
    try bridge.pass(30)
    #expect(try bridge.firing().contains("PreferredNetworkMismatch \(Agent.living)"))
    let facts = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.living)).facts
    #expect(facts.differs == ["network_key", "ext_pan_id", "network_name"])
    try bridge.announce(Agent.living, home, at: 100)
    #expect(try !bridge.firing().contains("PreferredNetworkMismatch \(Agent.living)"))
    #expect(try bridge.credential(Agent.living)?.followsPreferred == true)
  }

  @Test("A preferred network that a person chooses is checked at once against every router")
  func checkedAtOnce() throws {
    try bridge.announce(Agent.living, home, at: 100)
    try bridge.announce(Agent.attic, .guest, at: 1)
    var request = ThreadRequest(.setPreferred)
    request.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    _ = try bridge.command(request).result()
    #expect(try bridge.home().reevaluateAfter == nil)
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(try bridge.router(Agent.attic)?.preferred == "match")
    #expect(try bridge.credential(Agent.living)?.followsPreferred == false)
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == true)
  }

  @Test("A router that has only the preferred Extended PAN ID never changes the preferred network")
  func otherKey() throws {
    let otherKey = home.with { $0.networkKey = "00000000000000000000000000000001" }
    try bridge.announce(Agent.living, home, at: 5)
    for seconds in [1, 5, 6, 7, 1_000] as [UInt64] {
      try bridge.announce(Agent.attic, otherKey, at: seconds, user: "bert")
      #expect(try bridge.credential(Agent.attic)?.followsPreferred == false)
      #expect(try bridge.router(Agent.attic)?.preferred == "mismatch")
      try settle()
    }
    #expect(try bridge.preferred() == (try home.dataset(at: 5)))
  }

  @Test("Membership of an earlier preferred network is none of a later one")
  func staleMembership() throws {
    try bridge.announce(Agent.living, home, at: 5)
    try bridge.announce(Agent.attic, home, at: 5, user: "bert")
    var request = ThreadRequest(.setPreferred)
    request.dataset = try SampleNetwork.guest.dataset(at: 1)
    _ = try bridge.command(request).result()
    let otherKey = SampleNetwork.guest.with { $0.networkKey = "00000000000000000000000000000001" }
    for seconds in [7, 8] as [UInt64] {
      try bridge.announce(Agent.attic, otherKey, at: seconds, user: "bert")
      #expect(try bridge.credential(Agent.attic)?.followsPreferred == false)
    }
    #expect(try bridge.preferred() == (try SampleNetwork.guest.dataset(at: 1)))
  }

  @Test("A router that comes over becomes a member when it holds the preferred dataset itself")
  func comingOver() throws {
    try bridge.announce(Agent.living, home, at: 5)
    try bridge.announce(Agent.attic, .guest, at: 1)
    try bridge.announce(Agent.attic, home, at: 5)
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == true)
    let newer = home.with { $0.channel = 20 }
    try bridge.announce(Agent.attic, newer, at: 6)
    #expect(try bridge.preferred() == (try newer.dataset(at: 6)))
  }

  @Test("The last router of the preferred network leaves it preferred, and that is said")
  func lastRouter() throws {
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, home, at: 1) }
    _ = try bridge.takeEvents()
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.takeEvents().first { $0.types == .routerLeft }?.detail.message == nil)
    try bridge.say(.leave, Agent.attic)
    let event = try #require(try bridge.takeEvents().first { $0.types == .routerLeft })
    #expect(event.detail.message?.contains("stays preferred") == true)
    #expect(try bridge.preferred() == (try home.dataset(at: 1)))
    #expect(try bridge.network(.home)?.routers == 0)
    try bridge.announce(Agent.living, .guest, at: 1)
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(try bridge.network(.home)?.routers == 0)
  }

  @Test("The last two leaving in one batch: it is said of the second")
  func lastRoutersTogether() throws {
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, home, at: 1) }
    _ = try bridge.takeEvents()
    try bridge.receive([
      try bridge.message(.leave, Agent.living), try bridge.message(.leave, Agent.attic),
    ])
    let messages = try bridge.takeEvents().filter { $0.types == .routerLeft }.map(\.detail.message)
    #expect(messages.count == 2)
    #expect(messages.first == .some(nil))
    #expect(messages.last??.contains("stays preferred") == true)
  }

  @Test("The walk takes many routers in small steps and restarts when the network changes again")
  func walk() throws {
    let agents = (0..<450).map { Fleet.agent($0) }
    for chunk in 0..<3 {
      try bridge.receive(
        try agents[chunk * 150..<(chunk + 1) * 150].map {
          try bridge.message(.announce, $0, ["dataset": try home.dataset(at: 1).hex])
        })
    }
    try bridge.announce(agents[0], home.with { $0.channel = 20 }, at: 2)
    let first = try #require(try bridge.home().reevaluateAfter)
    #expect(try bridge.router(agents[199])?.preferred == "mismatch")
    try bridge.pass()
    #expect(try #require(try bridge.home().reevaluateAfter) > first)
    #expect(try bridge.router(agents[449])?.preferred == "match")
    try bridge.announce(agents[0], home.with { $0.channel = 21 }, at: 3)
    #expect(try bridge.home().reevaluateAfter == first)
    for _ in 0..<3 { try bridge.pass() }
    #expect(try bridge.home().reevaluateAfter == nil)
    for agent in agents.dropFirst() {
      #expect(try bridge.router(agent)?.preferred == "mismatch")
    }
    #expect(try bridge.router(agents[0])?.preferred == "match")
  }

  @Test("A change in the batch after the walk has begun is not lost")
  func changeDuringWalk() throws {
    try bridge.announce(Agent.living, home, at: 1)
    try bridge.announce(Agent.attic, home, at: 1)
    try bridge.announce(Agent.living, home.with { $0.channel = 20 }, at: 2)
    try bridge.restart()
    try settle()
    #expect(try bridge.router(Agent.attic)?.preferred == "mismatch")
  }
}

/// Border agent ids of many routers.
enum Fleet {
  static func agent(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "f1ee" + String(repeating: "0", count: 12 - digits.count) + digits
  }
}
