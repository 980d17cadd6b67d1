// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Everything is published again")
struct RepublicationTests {
  let bridge: TestBridge
  let outbox: Outbox

  init() throws {
    bridge = try TestBridge()
    outbox = try bridge.outbox()
    for number in 0..<70 {
      try bridge.announce(Fleet.agent(number), number < 60 ? .home : .guest, at: 1)
    }
    try bridge.say(.leave, Fleet.agent(3))
    for _ in 0..<2 { try bridge.pass(60) }
    _ = try outbox.drain()
  }

  private func topics(_ publications: [Publication]) -> [String] { publications.map(\.topic) }

  @Test("Every router, network and alert once, retained, and no event")
  func everything() throws {
    outbox.republishAll()
    let all = try outbox.drain()
    #expect(all.allSatisfy { $0.retain && !$0.payload.isEmpty })
    #expect(Set(topics(all)).count == all.count)
    // 69 routers with two topics each, two networks, ten mismatches and one login.
    #expect(all.count == 69 * 2 + 2 + 10 + 1)
    #expect(try outbox.drain().isEmpty)
  }

  @Test("Many networks are walked in steps, too")
  func manyNetworks() throws {
    let bridge = try TestBridge()
    for number in 0..<70 {
      let network = SampleNetwork.guest.with { $0.extendedPANID = Fleet.agent(number) }
      try bridge.announce(Fleet.agent(number), network, at: 1)
    }
    let outbox = try bridge.outbox()
    _ = try outbox.drain()
    outbox.republishAll()
    var networks: Set<String> = []
    while case let publications = try outbox.next(20), !publications.isEmpty {
      #expect(publications.count <= 20)
      networks.formUnion(topics(publications).filter { $0.contains("/network/") })
    }
    #expect(networks.count == 70)
  }

  @Test("A walk that waits is not doubled")
  func twice() throws {
    outbox.republishAll()
    _ = try outbox.next(1)
    outbox.republishAll()
    outbox.republishAll()
    let all = try outbox.drain()
    #expect(all.count < 2 * 151)
    #expect(Set(topics(all)).count == 151)
  }

  @Test(
    "A connection that is lost on the way loses nothing of it", arguments: [1, 40, 139, 150, 151])
  func lostConnection(taken: Int) throws {
    outbox.republishAll()
    var acknowledged: Set<String> = []
    for (index, publication) in try outbox.next(taken).enumerated() where index + 1 < taken {
      outbox.acknowledge(publication.token)
      acknowledged.insert(publication.topic)
    }
    outbox.restart()
    let again = Set(topics(try outbox.drain()))
    #expect(again.union(acknowledged).count == 151)
    outbox.restart()
    #expect(try outbox.drain().isEmpty)
  }

  @Test("The topics below a base topic that a home gave up are emptied")
  func clear() throws {
    bridge.configuration.topics = BaseTopics([.init(name: "home", base: "new/base")])
    let retired = try bridge.start()
    #expect(retired.map(\.base) == ["threadkeeper"])
    let outbox = try bridge.outbox()
    _ = try outbox.drain()
    for old in retired { outbox.clear(base: old.base, of: old.home) }
    let all = try outbox.drain()
    #expect(all.allSatisfy { $0.retain && $0.payload.isEmpty })
    #expect(all.allSatisfy { $0.topic.hasPrefix("threadkeeper/") })
    #expect(all.count == 151 + 5)
    #expect(topics(all).contains("threadkeeper/bridge/state"))
    #expect(!outbox.isWalking)
    try bridge.settleBases()
    #expect(try bridge.start().isEmpty)
  }

  @Test("Emptying that a lost connection interrupts is done again", arguments: [1, 100, 155, 156])
  func clearLost(taken: Int) throws {
    outbox.clear(base: "old/base", of: "home")
    var acknowledged: Set<String> = []
    for (index, publication) in try outbox.next(taken).enumerated() where index + 1 < taken {
      outbox.acknowledge(publication.token)
      acknowledged.insert(publication.topic)
    }
    outbox.restart()
    let emptied = try outbox.drain().filter { $0.payload.isEmpty }
    #expect(Set(topics(emptied)).union(acknowledged).count == 156)
    #expect(emptied.allSatisfy { $0.topic.hasPrefix("old/base/") })
  }

  @Test("A base topic that another home took over keeps what is the daemon's own there")
  func takenOver() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "lets/cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1, base: "lets/cabin")
    bridge.configuration.topics = BaseTopics([
      .init(name: "home", base: "lets/cabin"), .init(name: "cabin", base: "threadkeeper"),
    ])
    let retired = try bridge.start()
    #expect(Set(retired.map(\.base)) == ["threadkeeper", "lets/cabin"])
    let outbox = try bridge.outbox()
    for old in retired { outbox.clear(base: old.base, of: old.home) }
    outbox.republishAll()
    var view = RetainedView()
    for base in ["threadkeeper", "lets/cabin"] {
      view.take(Publication(topic: "\(base)/bridge/state", payload: [1], retain: true))
    }
    for publication in try outbox.drain() { view.take(publication) }
    #expect(view.retained["threadkeeper/bridge/state"] == [1])
    #expect(view.retained["lets/cabin/bridge/state"] == [1])
    #expect(view.retained["lets/cabin/router/\(Agent.living)"] != nil)
    #expect(view.retained["threadkeeper/router/\(Agent.attic)"] != nil)
    #expect(view.retained["threadkeeper/router/\(Agent.living)"] == nil)
    // Both homes are on one network: its topic is published below both bases.
    #expect(view.retained["threadkeeper/network/\(SampleNetwork.home.extendedPANID)"] != nil)
  }

  @Test(
    "After anything at all, the broker holds what a republication would say",
    arguments: [1, 2, 3, .random(in: 0 ... .max)] as [UInt64])
  func convergence(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bridge = try TestBridge()
    var outbox = try bridge.outbox()
    var view = RetainedView()
    let agents = (0..<6).map { Fleet.agent($0) }
    for _ in 0..<200 {
      let agent = agents.randomElement(using: &generator) ?? ""
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3:
        let network: SampleNetwork = Bool.random(using: &generator) ? .home : .guest
        try bridge.announce(agent, network, at: .random(in: 1...5, using: &generator))
      case 4, 5: try bridge.say(.leave, agent)
      case 6:
        try bridge.say(Bool.random(using: &generator) ? .offline : .heartbeat, agent)
      case 7: try bridge.pass(Int.random(in: 0...40, using: &generator))
      case 8:
        // A lost connection: the broker may have taken a part of what was on its way.
        let lost = try outbox.next(10)
        for publication in lost.prefix(Int.random(in: 0...lost.count, using: &generator)) {
          view.take(publication)
        }
        outbox.restart()
      default:
        // A restart of the daemon, with or without the mark on disk.
        let mark = outbox.published
        if Bool.random(using: &generator) {
          try bridge.database.write { try EventLedger.setPublished(mark, $0) }
        }
        try bridge.restart()
        outbox = try bridge.outbox()
      }
      for publication in try outbox.next(Int.random(in: 0...12, using: &generator)) {
        view.take(publication)
        outbox.acknowledge(publication.token)
      }
    }
    // The last walk of the checks, then everything that is left.
    for _ in 0..<3 { try bridge.pass() }
    for publication in try outbox.drain() { view.take(publication) }
    view.take(Publication(topic: "threadkeeper/bridge/alerts", payload: [], retain: true))
    let expected = try bridge.republished()
    let topics = Set(view.retained.keys).symmetricDifference(expected.keys)
    #expect(topics.isEmpty, "seed \(seed)")
    for (topic, payload) in expected {
      #expect(view.retained[topic] == payload, "seed \(seed), \(topic)")
    }
  }
}
