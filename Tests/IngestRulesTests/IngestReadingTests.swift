// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing

@testable import IngestRules

@Suite("What ingest rules make of a message")
struct IngestReadingTests {
  private func rule(
    _ event: InboundEventKind = .announce, topic: String = "otbr/{router}/status",
    user: String = "otbr", taking fields: [InboundEventField: String],
    when conditions: [(String, [String])] = []
  ) throws -> IngestRule {
    IngestRule(
      name: "one", filter: try TopicFilter(topic), event: event, user: try TextTemplate(user),
      home: "home", fields: try fields.mapValues { try IngestValue($0) },
      conditions: try conditions.map { try IngestCondition($0.0, values: $0.1) })
  }

  private func outcome(
    _ rule: IngestRule, _ payload: String, topic: String = "otbr/a1b2c3d4e5f60718/status"
  ) throws -> IngestReading.Outcome {
    var reading = try #require(IngestRules([rule]).reading(topic, Array(payload.utf8)))
    return try reading.outcome(of: reading.matches[0])
  }

  private func event(
    _ rule: IngestRule, _ payload: String, topic: String = "otbr/a1b2c3d4e5f60718/status"
  ) throws -> InboundEvent? {
    if case .event(let event) = try outcome(rule, payload, topic: topic) { event } else { nil }
  }

  private func rejection(_ rule: IngestRule, _ payload: String) throws -> Rejection? {
    do {
      _ = try outcome(rule, payload)
      return nil
    } catch let error as Rejection {
      return error
    }
  }

  @Test("The event is the one that the same fields make on threadkeeper's own topic")
  func same() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    let rule = try rule(taking: [
      .borderAgentID: "{router}", .dataset: "/thread/0/active", .name: "Box {router}",
      .model: "/model", .threadState: "/state", .sequence: "/count", .vendor: "/nothing",
    ])
    let found = try event(
      rule,
      #"{"thread":[{"active":"\#(dataset)"}],"model":"m","state":"leader","count":7,"x":{}}"#)
    let own = try InboundEventDecoder().decode(
      Array(
        #"""
        {"border_agent_id":"a1b2c3d4e5f60718","dataset":"\#(dataset)","name":"Box a1b2c3d4e5f60718",
         "model":"m","thread_state":"leader","seq":7}
        """#.utf8), as: .announce)
    #expect(found == own)
  }

  @Test("The payload can be a text, and the access point take the place of the id")
  func text() throws {
    let rule = try rule(
      .ssid, topic: "wifi/{ap}", taking: [.accessPoint: "{ap}", .ssid: "{payload}"])
    let event = try #require(try event(rule, "Home \"Wi-Fi\"", topic: "wifi/attic"))
    #expect(event.subject == .accessPoint("attic"))
    #expect(event.ssid == "Home \"Wi-Fi\"")
  }

  @Test("All conditions have to be met; without them nothing comes of the message")
  func conditions() throws {
    func isMet(_ payload: String, _ conditions: (String, [String])...) throws -> Bool {
      let rule = try rule(.offline, taking: [.borderAgentID: "{router}"], when: conditions)
      return try event(rule, payload) != nil
    }
    #expect(try isMet("Offline", ("payload", ["Offline", "gone"])))
    #expect(try !isMet("offline", ("payload", ["Offline"])))
    #expect(try isMet(#"{"a":{"b":"x"}}"#, ("/a/b", ["x"]), ("/a", ["*"])))
    #expect(try !isMet(#"{"a":{"b":"x"}}"#, ("/a/b", ["x"]), ("/a/c", ["*"])))
    #expect(try isMet(#"{"a":false}"#, ("/a", ["false"])))
    #expect(try isMet(#"{"a":1.50}"#, ("/a", ["1.50"])))
    #expect(try !isMet(#"{"a":null}"#, ("/a", ["*"])))
    #expect(try !isMet("not JSON", ("/a", ["*"])))
    #expect(try !isMet("", ("payload", ["*"])))
  }

  @Test("Where nothing comes of a message, the reason is the one that there is")
  func reasons() throws {
    func reason(_ payload: String) throws -> IngestReading.Reason? {
      let rule = try rule(
        .offline, taking: [.borderAgentID: "{router}"], when: [("/state", ["gone"])])
      return if case .nothing(let reason) = try outcome(rule, payload) { reason } else { nil }
    }
    guard case .isEmpty = try reason("") else {
      Issue.record("an empty payload has another reason")
      return
    }
    let flaws: [(String, IngestFlaw?)] = [
      (#"{"state":"here"}"#, nil), ("{}", nil),
      ("gone", IngestFlaw("the payload is not JSON, from byte 0 on", offset: 0)),
    ]
    for (payload, flaw) in flaws {
      guard case .unmet(let condition, let found) = try reason(payload) else {
        Issue.record("\(payload) has another reason")
        return
      }
      #expect(condition.source == "/state" && found == flaw, "\(payload)")
    }
  }

  @Test(
    "What the rule needs and the message does not have is rejected with a code that names the rule",
    arguments: [
      (#"{"other":"1"}"#, "border_agent_id"), (#"{"id":null}"#, "border_agent_id"),
      (#"{"id":17}"#, "border_agent_id"), (#"{"id":{}}"#, "border_agent_id"),
      (#"{"id":"\ud800"}"#, "border_agent_id"), ("Offline", "border_agent_id"),
      ("[[[[[[[[[1]]]]]]]]]", "border_agent_id"),
    ])
  func missing(payload: String, field: String) throws {
    let found = try #require(try rejection(rule(taking: [.borderAgentID: "/id"]), payload))
    #expect(found.code == "ingest:one")
    #expect(found.field == field)
    #expect(!found.message.isEmpty)
    #expect((found.offset != nil) == !payload.hasPrefix("{"))
  }

  @Test(
    "A number that `seq` cannot be is answered with the numbers it can be",
    arguments: ["1.5", "-1", "17e-1", "18446744073709551616", "true", "{}"])
  func sequence(value: String) throws {
    let rule = try rule(.leave, taking: [.borderAgentID: "{router}", .sequence: "/n"])
    let found = try #require(try rejection(rule, "{\"n\":\(value)}"))
    #expect(found.code == "ingest:one" && found.field == "seq")
    #expect(found.message == "expected a whole number from 0 to 2^64-1 at `/n`")
  }

  @Test("A value that an event cannot have is rejected as on threadkeeper's own topics")
  func values() throws {
    let fields: [InboundEventField: String] = [
      .borderAgentID: "{router}", .dataset: "/dataset", .threadState: "/state", .sequence: "/seq",
    ]
    for (payload, code, field) in [
      (#"{"dataset":"0e08"}"#, "truncated", "dataset"),
      (#"{"dataset":"xy"}"#, "not_hex", "dataset"),
      (#"{"state":"happy"}"#, "bad_field", "thread_state"),
      (#"{"seq":"x"}"#, "wrong_type", "seq"),
    ] {
      let found = try #require(try rejection(rule(taking: fields), payload), "\(payload)")
      #expect(found.code == code && found.field == field, "\(payload): \(found)")
    }
  }

  @Test("No rejection repeats anything of the payload")
  func silent() throws {
    let mark = "5ec2e7"
    for payload in [
      mark, "{\"id\":\"\(mark)\"}", "{\"id\":[\"\(mark)\"]}", "{\"\(mark)\":1",
      String(repeating: mark, count: 4_000),
    ] {
      let found = try #require(try rejection(rule(taking: [.borderAgentID: "/id"]), payload))
      #expect(!"\(found)".contains(mark), "\(found)")
    }
  }

  @Test("A payload of more than 16,384 bytes is rejected before it is read")
  func tooLarge() throws {
    let rule = try rule(.heartbeat, taking: [.borderAgentID: "{router}"])
    #expect(try rejection(rule, String(repeating: " ", count: 16_385))?.code == "ingest:one")
    #expect(try event(rule, String(repeating: " ", count: 16_384)) != nil)
  }

  @Test("The user comes from the topic, and has to fit")
  func user() throws {
    let rule = try rule(user: "hub-{router}", taking: [.borderAgentID: "/id"])
    let reading = try #require(IngestRules([rule]).reading("otbr/kitchen/status", []))
    #expect(try reading.user(of: reading.matches[0]) == "hub-kitchen")
    let long = "otbr/\(String(repeating: "x", count: 300))/status"
    let other = try #require(IngestRules([rule]).reading(long, []))
    #expect(throws: Rejection.self) { try other.user(of: other.matches[0]) }
  }

  @Test("Every rule that matches takes the message, and the broker is asked for no topic twice")
  func several() throws {
    let rules = IngestRules([
      try rule(taking: [.borderAgentID: "{router}"]),
      try rule(.ssid, taking: [.borderAgentID: "{router}", .ssid: "/s"]),
      try rule(topic: "otbr/#", taking: [.borderAgentID: "/x"]),
      try rule(topic: "x", taking: [.borderAgentID: "/x"]),
    ])
    #expect(rules.reading("otbr/a/status", [])?.matches.count == 3)
    #expect(rules.reading("y", []) == nil)
    #expect(rules.subscriptions == ["otbr/#", "x"])
    #expect(IngestRules(rules.all.reversed()).subscriptions == ["x", "otbr/#"])
  }

  @Test("A payload as long and as deep as can be is an event of each of 64 rules")
  func bounded() throws {
    var fields: [InboundEventField: String] = [.borderAgentID: "{router}"]
    for field in [InboundEventField.name, .vendor, .model] {
      fields[field] = "/a/a/a/a/a/a/a/\(field.rawValue)"
    }
    let rules = IngestRules(
      Array(
        repeating: try rule(taking: fields, when: (0..<8).map { ("/a/\($0)", ["*"]) }),
        count: IngestLimits.rules))
    let inner = String(repeating: #"{"a":"#, count: 5) + #"{"name":"n","vendor":"v","model":"m"}"#
    // Members of one byte's value each, up to the limit.
    var text = #"{"a":{"a":"# + inner + String(repeating: "}", count: 5)
    for index in 0... {
      let member = ",\"\(index)\":1"
      guard text.utf8.count + member.utf8.count + 2 <= InboundLimits.payloadBytes else { break }
      text += member
    }
    text += "}}"
    #expect(text.utf8.count > InboundLimits.payloadBytes - 16)
    var reading = try #require(
      rules.reading("otbr/a1b2c3d4e5f60718/status", Array(text.utf8)))
    let events = try reading.matches.map { match -> InboundEvent? in
      if case .event(let event) = try reading.outcome(of: match) { event } else { nil }
    }
    #expect(events.count == 64)
    #expect(events.allSatisfy { $0?.name == "n" && $0?.vendor == "v" && $0?.model == "m" })
  }
}
