// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("The outbox")
struct OutboxTests {
  let bridge: TestBridge
  let outbox: Outbox
  private let living = "threadkeeper/router/\(Agent.living)"
  private let network = "threadkeeper/network/\(SampleNetwork.home.extendedPANID)"

  init() throws {
    bridge = try TestBridge()
    outbox = try bridge.outbox()
  }

  // MARK: What is published

  @Test("An announcement: states first, then the events that lead to them")
  func announce() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    let all = try outbox.drain()
    #expect(
      all.map(\.topic) == [
        living, "\(living)/availability",
        "threadkeeper/bridge/event", "\(living)/event",
        "threadkeeper/bridge/event", "\(living)/event",
        "threadkeeper/bridge/event", "\(living)/event",
        network,
      ])
    #expect(all.allSatisfy { $0.qos == 1 })
    for publication in all {
      let isState =
        publication.topic != "threadkeeper/bridge/event"
        && !publication.topic.hasSuffix("/event")
      #expect(publication.retain == isState, "\(publication)")
    }
    #expect(all.first?.object["name"] as? String == "Living room")
    #expect(all.first?.object["preferred"] as? String == "match")
    #expect(all[1].object["state"] as? String == "online")
    #expect(all.last?.object["routers"] as? Int == 1)
    #expect(all.last?.object["preferred"] as? Bool == true)
    var view = RetainedView()
    for publication in all { view.take(publication) }
    let types = ["router_announced", "dataset_stored", "preferred_changed"]
    #expect(view.types(on: "threadkeeper/bridge/event") == types)
    #expect(view.types(on: "\(living)/event") == types)
    #expect(try outbox.drain().isEmpty)
  }

  @Test("Many changes of a state are one publication, the last one")
  func coalesced() throws {
    for number in 0..<50 {
      try bridge.announce(Agent.living, .home, at: 1, ["name": "Name \(number)"])
    }
    let states = try outbox.drain().filter { $0.topic == living }
    #expect(states.count == 1)
    #expect(states.first?.object["name"] as? String == "Name 49")
  }

  @Test("Each event is published, however late, with its own time and details")
  func events() throws {
    for seconds in 1...5 as ClosedRange<UInt64> {
      try bridge.announce(Agent.living, .home, at: seconds)
      bridge.clock.advance(seconds: 1)
    }
    let told = try outbox.drain().filter { $0.topic == "threadkeeper/bridge/event" }
    let updates = told.filter { $0.object["event_type"] as? String == "dataset_updated" }
    #expect(updates.count == 4)
    #expect(Set(updates.compactMap { $0.object["time"] as? String }).count == 4)
    #expect(updates.allSatisfy { $0.object["user"] as? String == "anna" })
  }

  @Test("A router that left has its topics emptied, and its empty network too")
  func left() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.announce(Agent.living, .guest, at: 1)
    _ = try outbox.drain()
    try bridge.say(.leave, Agent.living)
    let all = try outbox.drain()
    let emptied = all.filter { $0.retain && $0.payload.isEmpty }.map(\.topic)
    #expect(
      emptied == [
        living, "\(living)/availability",
        "threadkeeper/network/\(SampleNetwork.guest.extendedPANID)",
      ])
    #expect(
      all.first { $0.topic == "\(living)/event" }?.object["event_type"] as? String == "router_left")
  }

  @Test("A router that is back before its leaving was published is not emptied")
  func leftAndBack() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try outbox.drain()
    try bridge.say(.leave, Agent.living)
    try bridge.announce(Agent.living, .home, at: 1)
    let all = try outbox.drain()
    #expect(!all.contains { $0.payload.isEmpty })
    #expect(all.filter { $0.topic == living }.count == 1)
    #expect(all.contains { $0.object["event_type"] as? String == "router_left" })
  }

  @Test("A rejection is published on the bridge's topic only, in its home")
  func rejection() throws {
    try bridge.receive([
      IncomingMessage(topic: "threadkeeper/in/anna/announce", payload: Array("{".utf8))
    ])
    let all = try outbox.drain()
    #expect(all.map(\.topic) == ["threadkeeper/bridge/event"])
    let object = try #require(all.first).object
    #expect(object["event_type"] as? String == "message_rejected")
    #expect(object["code"] as? String == "invalid_json")
    #expect(object["offset"] as? Int == 1)
    #expect(object["topic"] as? String == "threadkeeper/in/anna/announce")
  }

  @Test("Homes are published below their own base topics, and a home that is not served not at all")
  func homes() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "lets/cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1, base: "threadkeeper")
    try bridge.announce(Agent.attic, .home, at: 1, base: "lets/cabin")
    let topics = Set(try bridge.outbox().drain().map(\.topic))
    #expect(topics.contains("lets/cabin/router/\(Agent.attic)"))
    #expect(!topics.contains("threadkeeper/router/\(Agent.attic)"))
    #expect(!topics.contains("lets/cabin/router/\(Agent.living)"))
    bridge.configuration.topics = BaseTopics([.init(name: "home", base: "threadkeeper")])
    let outbox = try bridge.outbox()
    #expect(try outbox.drain().allSatisfy { $0.topic.hasPrefix("threadkeeper/") })
    #expect(try outbox.published == bridge.database.read { try EventLedger.lastID($0) })
  }

  @Test("No publication holds a secret")
  func secrecy() throws {
    let known = SampleNetwork.guest.with { $0.networkKey = "00112233445566778899aabbccddeeff" }
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.announce(Agent.living, SampleNetwork.home.with { $0.channel = 20 }, at: 5)
    try bridge.announce(Agent.attic, known, at: 5)
    try bridge.pass(30)
    try bridge.say(.leave, Agent.attic)
    let all = try outbox.drain()
    #expect(all.count > 20)
    for publication in all {
      let text = String(decoding: publication.payload, as: UTF8.self).lowercased()
      for network in [SampleNetwork.home, known] {
        #expect(!text.contains(network.networkKey.prefix(8)))
        #expect(!text.contains(network.pskc.prefix(8)))
      }
    }
  }

  // MARK: The mark

  @Test("The mark advances only over rows whose every publication is acknowledged")
  func watermark() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    let last = try bridge.database.read { try EventLedger.lastID($0) }
    let all = try outbox.next(1_000)
    var generator = SeededGenerator(seed: 3)
    var marks: [Int64] = []
    for publication in all.shuffled(using: &generator) {
      #expect(outbox.published < last)
      outbox.acknowledge(publication.token)
      marks.append(outbox.published)
    }
    #expect(marks == marks.sorted())
    #expect(outbox.published == last)
    #expect(Set(all.map(\.token)).count == all.count)
  }

  @Test("Strange acknowledgements change nothing")
  func strangeTokens() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    let all = try outbox.next(1_000)
    let first = try #require(all.first)
    for _ in 0..<100 { outbox.acknowledge(first.token) }
    for token in [0, 77_777, .max] as [UInt64] { outbox.acknowledge(token) }
    #expect(outbox.published == 0)
  }

  @Test("Rows are dropped with the mark, and their ids are never given again")
  func dropped() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try outbox.drain()
    let last = outbox.published
    try bridge.database.write { try EventLedger.setPublished(last, $0) }
    #expect(try bridge.database.read { try EventLedger.page(after: 0, limit: 10, $0) }.isEmpty)
    #expect(try bridge.database.read { try EventLedger.waiting($0) } == 0)
    try bridge.restart()
    #expect(try bridge.outbox().drain().isEmpty)
    try bridge.announce(Agent.attic, .home, at: 1)
    let rows = try bridge.database.read { try EventLedger.page(after: 0, limit: 10, $0) }
    #expect(rows.first?.id == last + 1)
    #expect(try bridge.database.read { try EventLedger.waiting($0) } == Int64(rows.count))
    // An older mark takes nothing back.
    try bridge.database.write { try EventLedger.setPublished(1, $0) }
    #expect(try bridge.database.read { try EventLedger.published($0) } == last)
  }

  @Test("After a lost connection exactly what was not acknowledged is offered again")
  func restart() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    let before = try outbox.next(5)
    let first = try outbox.next(1_000)
    for publication in before { outbox.acknowledge(publication.token) }
    outbox.restart()
    // The acknowledgement of an earlier connection's publication means nothing now.
    for publication in first { outbox.acknowledge(publication.token) }
    let again = try outbox.next(1_000)
    #expect(again.last?.topic == first.last?.topic)
    #expect(Set(again.map(\.token)).isDisjoint(with: (before + first).map(\.token)))
    #expect(outbox.published < (try bridge.database.read { try EventLedger.lastID($0) }))
    for publication in again { outbox.acknowledge(publication.token) }
    #expect(try outbox.published == bridge.database.read { try EventLedger.lastID($0) })
    outbox.restart()
    #expect(try outbox.drain().isEmpty)
  }

  @Test("No more is handed out than was asked for", arguments: [0, 1, 3, 20])
  func limit(limit: Int) throws {
    for number in 0..<20 { try bridge.announce(Fleet.agent(number), .home, at: 1) }
    #expect(try outbox.next(limit).count == limit)
  }

  @Test("What comes while it is read is read too, once")
  func interleaved() throws {
    var topics: [String] = []
    for number in 0..<40 {
      try bridge.announce(Fleet.agent(number), .home, at: 1)
      for publication in try outbox.next(3) {
        topics.append(publication.topic)
        outbox.acknowledge(publication.token)
      }
    }
    topics += try outbox.drain().map(\.topic)
    for number in 0..<40 {
      #expect(topics.filter { $0 == "threadkeeper/router/\(Fleet.agent(number))" }.count == 1)
    }
  }
}
