// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import IngestRules
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing

@testable import Bridge

@Suite("Messages of other publishers")
struct IngestTests {
  private static func rule(
    _ name: String, _ event: InboundEventKind, topic: String, user: String = "otbr",
    _ fields: [InboundEventField: String], when values: [String]? = nil
  ) throws -> IngestRule {
    IngestRule(
      name: name, filter: try TopicFilter(topic), event: event, user: try TextTemplate(user),
      home: "home", fields: try fields.mapValues { try IngestValue($0) },
      conditions: try values.map { [try IngestCondition("payload", values: $0)] } ?? [])
  }

  private func bridge(_ change: (inout BridgeConfiguration) -> Void = { _ in }) throws -> TestBridge
  {
    let rules = [
      try Self.rule(
        "status", .announce, topic: "otbr/{router}/status",
        [.borderAgentID: "{router}", .dataset: "/dataset", .accessPoint: "/ap"]),
      try Self.rule(
        "ssid", .ssid, topic: "otbr/{router}/status",
        [.borderAgentID: "{router}", .ssid: "/ssid"]),
      try Self.rule(
        "will", .offline, topic: "otbr/{router}/LWT", [.borderAgentID: "{router}"],
        when: ["Offline"]),
      try Self.rule("gone", .leave, topic: "gone/{user}", user: "{user}", [.borderAgentID: "/id"]),
    ]
    return try TestBridge {
      $0.ingest = IngestRules(rules)
      change(&$0)
    }
  }

  private func message(_ topic: String, _ payload: String, isRetained: Bool = false)
    -> IncomingMessage
  {
    IncomingMessage(topic: topic, payload: Array(payload.utf8), isRetained: isRetained)
  }

  private func status(_ ssid: String = "home", of agent: String = Agent.living) throws
    -> IncomingMessage
  {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    return message("otbr/\(agent)/status", #"{"dataset":"\#(dataset)","ssid":"\#(ssid)"}"#)
  }

  @Test("One message can be an announcement and an SSID; a will of text takes the router offline")
  func life() throws {
    let bridge = try bridge()
    #expect(try bridge.receive([status()]).rejected.isEmpty)
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.user == "otbr" && router.isOnline && router.credential == .stored)
    #expect(router.ssid == "home")
    #expect(try bridge.credential(Agent.living)?.team == "otbr")
    try bridge.receive([
      message("otbr/\(Agent.living)/LWT", "Online"), message("otbr/\(Agent.living)/LWT", ""),
    ])
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    try bridge.receive([message("otbr/\(Agent.living)/LWT", "Offline")])
    #expect(try bridge.router(Agent.living)?.isOnline == false)
  }

  @Test("A message that a rule cannot use is rejected once for each rule, by the rule's name")
  func rejected() throws {
    let bridge = try bridge()
    let counts = try bridge.receive([
      message("otbr/\(Agent.living)/status", "{\"secret\":"), message("other/topic", "{}"),
    ])
    #expect(counts.rejected == ["ingest:status": 1, "ingest:ssid": 1])
    #expect(counts.foreign == 1)
    let events = try bridge.takeEvents().filter { $0.types == .messageRejected }
    #expect(events.map(\.detail.code) == ["ingest:status", "ingest:ssid"])
    #expect(events.map(\.detail.topic) == Array(repeating: "otbr/\(Agent.living)/status", count: 2))
    #expect(events.allSatisfy { $0.user == "otbr" })
    #expect(events[0].detail.message?.hasPrefix("Rule `status` of `ingest`: ") == true)
    #expect(events.allSatisfy { $0.detail.message?.contains("secret") == false })
  }

  @Test("A router of another team is not authorized, and the rule is named")
  func foreignTeam() throws {
    let bridge = try bridge()
    try bridge.announce(Agent.living, .home, at: 1, user: "anna")
    let counts = try bridge.receive([
      message("gone/otbr", "{\"id\":\"\(Agent.living)\"}")
    ])
    #expect(counts.rejected == ["not_authorized": 1])
    let event = try #require(try bridge.takeEvents().last { $0.types == .messageRejected })
    #expect(event.detail.message?.hasPrefix("Rule `gone` of `ingest`: ") == true)
    try bridge.receive([message("gone/anna", "{\"id\":\"\(Agent.living)\"}")])
    #expect(try bridge.router(Agent.living)?.isPresent != true)
  }

  @Test("What the broker keeps is counted once, without an event; an emptied topic is nothing")
  func retained() throws {
    let bridge = try bridge()
    var kept = try status()
    kept.isRetained = true
    let counts = try bridge.receive([
      kept, message("otbr/\(Agent.living)/status", "", isRetained: true),
    ])
    #expect(counts.received == 2 && counts.retained == 1)
    #expect(counts.rejected.isEmpty)
    #expect(try bridge.takeEvents().allSatisfy { $0.types != .messageRejected })
    #expect(try bridge.router(Agent.living) == nil)
  }

  @Test("A user whose events have to be signed cannot be spoken for by a rule")
  func signed() throws {
    let bridge = try bridge()
    try bridge.enroll("otbr", try Identity().keys, .signed)
    #expect(try bridge.receive([status()]).rejected == ["not_sealed": 2])
  }

  @Test("The user of a rule has a login's limit of events")
  func flood() throws {
    let bridge = try bridge {
      $0.eventsPerSecond = 1
      $0.eventsBurst = 4
    }
    let monitor = BridgeMonitor()
    let intake = try bridge.intake(bridge.runner(monitor))
    try intake.received(try (0..<5).map { _ in try status() })
    #expect(monitor.snapshot.rejectedByCode == ["rate_limited": 6])
    #expect(try bridge.router(Agent.living)?.isPresent == true)
  }

  @Test("A filter that is no longer in the settings is known until the broker has ended it")
  func formerFilters() throws {
    let bridge = try bridge()
    func stored() throws -> [String] {
      try bridge.database.read { try IntakeFilterLedger.all($0) }
    }
    #expect(
      try stored() == ["gone/+", "otbr/+/LWT", "otbr/+/status", "threadkeeper/in/#"])
    bridge.configuration.ingest = IngestRules()
    try bridge.start()
    #expect(try stored().count == 4)
    try bridge.intake(bridge.runner()).subscribed(refused: [])
    #expect(try stored() == ["threadkeeper/in/#"])
  }
}
