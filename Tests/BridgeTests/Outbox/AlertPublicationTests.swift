// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("How alerts are published")
struct AlertPublicationTests {
  let bridge: TestBridge
  let outbox: Outbox
  private let topic: String

  init() throws {
    bridge = try TestBridge()
    outbox = try bridge.outbox()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.pass(30)
    _ = try outbox.drain()
    let fingerprint = AlertFingerprint(
      home: "home", name: .borderRouterOffline, subject: Agent.living)
    topic = "threadkeeper/alert/\(fingerprint)"
  }

  private func retained(_ publications: [Publication]) -> [Publication] {
    publications.filter { $0.topic == topic }
  }

  private func events(_ publications: [Publication]) -> [Publication] {
    publications.filter { $0.topic == "threadkeeper/bridge/event/alert" }
  }

  @Test("A held alert is not published")
  func held() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(29)
    let all = try outbox.drain()
    #expect(retained(all).isEmpty && events(all).isEmpty)
  }

  @Test(
    "Raised: retained, published, and counted; resolved: the same, and gone from the broker in a day"
  )
  func raisedAndResolved() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(30)
    let raised = try outbox.drain()
    let state = try #require(retained(raised).first)
    #expect(state.retain && state.messageExpiry == nil)
    #expect(state.object["status"] as? String == "firing")
    #expect(state.object["event_type"] == nil)
    let event = try #require(events(raised).first)
    #expect(!event.retain)
    #expect(event.object["event_type"] as? String == "alert_raised")
    #expect(event.object["status"] as? String == "firing")
    #expect(event.object["router"] as? String == Agent.living)
    let overview = try #require(raised.last { $0.topic == "threadkeeper/bridge/alerts" })
    #expect(overview.retain)
    #expect(overview.object["active"] as? Int == 2)
    #expect(overview.object["warning"] as? Int == 1)
    #expect(overview.object["info"] as? Int == 1)

    try bridge.say(.heartbeat, Agent.living)
    let resolved = try outbox.drain()
    let end = try #require(retained(resolved).first)
    #expect(end.retain && end.messageExpiry == 86_400)
    #expect(end.object["status"] as? String == "resolved")
    #expect(events(resolved).map { $0.object["event_type"] as? String } == ["alert_resolved"])
    let after = try #require(resolved.last { $0.topic == "threadkeeper/bridge/alerts" })
    #expect(after.object["active"] as? Int == 1)

    try bridge.pass(86_400)
    #expect(retained(try outbox.drain()).map(\.payload) == [[]])
  }

  @Test("Raised and resolved before the broker hears: each event still says what it means")
  func late() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(30)
    try bridge.say(.heartbeat, Agent.living)
    let all = try outbox.drain()
    let told = events(all)
    #expect(
      told.map { $0.object["event_type"] as? String } == ["alert_raised", "alert_resolved"])
    #expect(told.map { $0.object["status"] as? String } == ["firing", "resolved"])
    #expect(told.map { $0.object["ends_at"] is String } == [false, true])
    #expect(retained(all).last?.object["status"] as? String == "resolved")
  }

  @Test("Resolved and held again before the broker hears: it still hears that it was resolved")
  func heldAgain() throws {
    try bridge.say(.offline, Agent.living)
    try bridge.pass(30)
    _ = try outbox.drain()
    try bridge.say(.heartbeat, Agent.living)
    try bridge.say(.offline, Agent.living)
    let all = try outbox.drain()
    #expect(events(all).map { $0.object["event_type"] as? String } == ["alert_resolved"])
    let end = try #require(retained(all).last)
    #expect(end.object["status"] as? String == "resolved")
    #expect(end.messageExpiry == 86_400)
    try bridge.pass(30)
    let again = try outbox.drain()
    #expect(events(again).map { $0.object["event_type"] as? String } == ["alert_raised"])
    #expect(retained(again).last?.object["status"] as? String == "firing")
  }

  @Test("The overview lists the newest twenty and counts all")
  func overview() throws {
    for number in 0..<30 {
      try bridge.announce(Fleet.agent(number), .guest, at: 1)
      bridge.clock.advance(seconds: 1)
    }
    for _ in 0..<2 { try bridge.pass(60) }
    let overview = try #require(
      try outbox.drain().last { $0.topic == "threadkeeper/bridge/alerts" }
    ).object
    #expect(overview["active"] as? Int == 31)
    #expect((overview["alerts"] as? [Any])?.count == 20)
  }

  @Test("Many alerts at once make one overview for what is read at once")
  func oneOverview() throws {
    for number in 0..<10 { try bridge.announce(Fleet.agent(number), .guest, at: 1) }
    _ = try outbox.drain()
    try bridge.pass(60)
    let overviews = try outbox.next(1_000).filter { $0.topic == "threadkeeper/bridge/alerts" }
    #expect(overviews.count == 1)
  }
}
