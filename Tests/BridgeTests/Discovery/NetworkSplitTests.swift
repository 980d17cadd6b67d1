// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Networks that are split into partitions")
struct NetworkSplitTests {
  let bridge: TestBridge
  let first = Advert()
  let second = Advert(name: "Attic", id: nil, address: Agent.attic)

  init() throws {
    bridge = try TestBridge { $0.discoversRouters = true }
    try bridge.announce(Agent.living, .home, at: 1)
  }

  private var subject: String { SampleNetwork.home.extendedPANID }
  private var split: [Advert] { [first, second.with { $0.partition = 8 }] }

  @Test(
    "Two partitions of the preferred network for longer than the hold are an alert, one is none")
  func preferred() throws {
    try bridge.discover(first, second)
    try bridge.pass(31)
    #expect(try bridge.alarms() == [])
    try bridge.discover(split)
    #expect(try bridge.alarms() == [])
    try bridge.pass(31)
    #expect(try bridge.alarms() == ["NetworkSplit \(subject)"])
    let facts = try #require(try bridge.alert(.networkSplit, subject)?.facts)
    #expect(facts.summary.contains(#""Attic" | "Kitchen""#))
    #expect(facts.networkName == "home")
    try bridge.discover(first, second)
    #expect(try bridge.alarms() == [])
  }

  @Test("A split that ends within the hold is no alert")
  func short() throws {
    try bridge.discover(split)
    try bridge.pass(10)
    try bridge.discover(first, second)
    try bridge.pass(60)
    #expect(try bridge.alarms() == [])
  }

  @Test("A network that is neither preferred nor accepted may be split")
  func foreign() throws {
    try bridge.discover(split.map { $0.with { $0.network = .guest } })
    try bridge.pass(31)
    #expect(try !bridge.alarms().contains { $0.hasPrefix("NetworkSplit") })
    _ = try bridge.accept(.guest)
    try bridge.discover(split.map { $0.with { $0.network = .guest } })
    try bridge.pass(31)
    #expect(try bridge.alarms() == ["NetworkSplit \(SampleNetwork.guest.extendedPANID)"])
  }

  @Test("A router that went offline is in no partition")
  func offline() throws {
    try bridge.discover(split)
    try bridge.pass(31)
    try bridge.discover(first)
    #expect(try !bridge.alarms().contains { $0.hasPrefix("NetworkSplit") })
  }

  // MARK: Without mDNS

  private func lead(_ agent: String, _ state: String = "leader") throws {
    try bridge.say(.heartbeat, agent, ["ext_pan_id": subject, "thread_state": state])
  }

  private func leadTogether() throws {
    for _ in 1...2 {
      for agent in [Agent.living, Agent.attic] { try lead(agent) }
      try bridge.pass(1)
    }
  }

  @Test("Two routers that both report to lead the network are an alert, until one does not")
  func leaders() throws {
    try bridge.announce(Agent.attic, .home, at: 1, ["name": "Attic"])
    try leadTogether()
    try bridge.pass(31)
    #expect(try bridge.alarms() == ["NetworkSplit \(subject)"])
    let facts = try #require(try bridge.alert(.networkSplit, subject)?.facts)
    #expect(facts.summary.contains(#""Attic" | "#) && facts.trigger == "heartbeat")
    try lead(Agent.attic, "router")
    try bridge.pass()
    #expect(try bridge.alarms() == [])
  }

  @Test("A leader that reports nothing more, and the one that takes its place, are no split")
  func formerLeader() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try lead(Agent.living)
    try bridge.pass(12)
    try lead(Agent.attic)
    try bridge.pass()
    try bridge.pass(60)
    #expect(try bridge.alarms() == [])
    try lead(Agent.living)
    try bridge.pass()
    try bridge.pass(31)
    #expect(try bridge.alarms() == ["NetworkSplit \(subject)"])
  }

  @Test("A heartbeat without a Thread state does not say that a router still leads")
  func bareHeartbeat() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try lead(Agent.living)
    try bridge.pass(12)
    try lead(Agent.attic)
    for _ in 1...4 {
      try bridge.pass(20)
      try bridge.say(.heartbeat, Agent.living)
      try lead(Agent.attic)
    }
    #expect(try bridge.alarms() == [])
    #expect(try bridge.alert(.networkSplit, subject) == nil)
  }

  @Test("A leader that reports for the last time when the next one begins is no split")
  func sameTime() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try lead(Agent.living)
    try bridge.pass(12)
    try lead(Agent.living)
    try lead(Agent.attic)
    try bridge.pass(1)
    try lead(Agent.attic)
    try bridge.pass()
    #expect(try bridge.alert(.networkSplit, subject) == nil)
  }

  @Test("A split that is over when its hold is, is not raised")
  func overInTime() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try leadTogether()
    #expect(try bridge.alert(.networkSplit, subject)?.phase == .held)
    try lead(Agent.attic, "router")
    try bridge.pass(31)
    #expect(try bridge.alert(.networkSplit, subject) == nil)
  }

  @Test("Leaders split a network where the times in which they reported so overlap")
  func simultaneous() {
    let networks = [1, 2, 3].compactMap {
      ExtendedPANID(bytes: [UInt8](repeating: $0, count: 8))
    }
    var random = SystemRandomNumberGenerator()
    for span in [Int64(5), 100, 10_000, 1_000_000] {
      var leaders = (1...1_000).map { id in
        let since = Int64.random(in: 0...span, using: &random)
        return NetworkSplits.Leader(
          id: Int64(id), network: networks[id % networks.count],
          since: WireTime(milliseconds: since),
          reported: WireTime(milliseconds: since + .random(in: 0...min(span, 500), using: &random)))
      }
      leaders.sort {
        ($0.network.description, $0.since, $0.reported)
          < ($1.network.description, $1.since, $1.reported)
      }
      let byNetwork = Dictionary(grouping: leaders, by: \.network)
      let expected = byNetwork.mapValues { leaders in
        leaders.filter { one in
          leaders.contains { other in
            other.id != one.id && one.reported > other.since && other.reported > one.since
          }
        }
      }.filter { !$1.isEmpty }
      #expect(NetworkSplits.simultaneous(leaders) == expected, "span \(span)")
    }
  }

  @Test(
    "Leaders of several networks, of one that is not wanted, and one that is offline are no split")
  func otherLeaders() throws {
    for agent in [Agent.attic, Agent.garage] { try bridge.announce(agent, .guest, at: 1) }
    for _ in 1...2 {
      for agent in [Agent.attic, Agent.garage] {
        try bridge.say(
          .heartbeat, agent,
          ["ext_pan_id": SampleNetwork.guest.extendedPANID, "thread_state": "leader"])
      }
      try bridge.pass(1)
    }
    try lead(Agent.living)
    try bridge.pass()
    try bridge.pass(31)
    #expect(try !bridge.alarms().contains { $0.hasPrefix("NetworkSplit") })
    try lead(Agent.attic)
    try bridge.pass(1)
    for agent in [Agent.living, Agent.attic] { try lead(agent) }
    try bridge.say(.offline, Agent.attic)
    try bridge.pass()
    try bridge.pass(31)
    #expect(try !bridge.alarms().contains { $0.hasPrefix("NetworkSplit") })
  }

  @Test("The text names a few routers of many")
  func many() throws {
    let places = (0..<9).map {
      NetworkSplits.Place(
        network: ExtendedPANID(bytes: [UInt8](repeating: 1, count: 8))!, partition: $0 < 8 ? 1 : 2,
        router: "r\($0)")
    }
    let summary = NetworkSplits.facts(places[0].network, nil, places).summary
    #expect(summary.contains("r0, r1, r2 and 5 more | r8"))
    #expect(summary.hasPrefix("0101010101010101 is split into 2 parts"))
  }
}
