// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import Foundation
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// Requests from the broker, among events, on a real store.
@Suite("Requests")
struct RequestTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  @Test("A request is answered on the user's own topic, not retained, for thirty seconds")
  func answer() throws {
    let answered = try bridge.ask(.ping, ["transaction": "r-17"])
    #expect(answered.publication.topic == "threadkeeper/out/anna/response/ping")
    #expect(!answered.publication.retain)
    #expect(answered.publication.qos == 1)
    #expect(answered.answer.transaction == "r-17")
    #expect(answered.data?.version == "test")
    #expect(answered.data?.time == bridge.clock.now().description)
    #expect(bridge.counts.requestsAnswered == 1)
    #expect(try bridge.takeEvents().isEmpty)
  }

  @Test(
    "Every command has an answer",
    arguments: RequestCommand.allCases)
  func everyCommand(_ command: RequestCommand) throws {
    try bridge.announce(Agent.living, .home, at: 1)
    let answered = try bridge.ask(
      command,
      [
        "border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex,
        "transaction": "t",
      ].merging(
        command == .setPreferred ? [:] : ["ext_pan_id": "1111111122222222", "id": "c-1"]
      ) { $1 })
    #expect(
      answered.publication.topic == "threadkeeper/out/anna/response/\(command.rawValue)")
    #expect(answered.answer.transaction == "t")
    let expected: String? =
      switch command {
      case .getCredentials, .getNetwork, .nearbyNetworks, .getPreferred: "not_enrolled"
      case .shareCredentials: "unsupported"
      case .approveConsent, .denyConsent, .askConsent, .setPreferred, .forgetPreferred,
        .forgetNetwork:
        "not_authorized"
      default: nil
      }
    #expect(answered.code == expected)
  }

  @Test("Correlation Data is echoed byte by byte, with and without an error")
  func correlation() throws {
    for command in ["ping", "credentials/get", "party"] {
      var message = try bridge.request(command)
      message.correlationData = [0, 0xFF, 7]
      try bridge.receive([message])
      #expect(bridge.published.first?.publication.correlationData == [0, 0xFF, 7])
    }
  }

  @Test("A Response Topic of the user's own is honoured")
  func responseTopic() throws {
    var message = try bridge.request("ping")
    message.responseTopic = "threadkeeper/out/anna/session 7/a"
    try bridge.receive([message])
    #expect(bridge.published.first?.publication.topic == "threadkeeper/out/anna/session 7/a")
  }

  @Test(
    "Any other Response Topic is not: the answer goes where only the user can read it",
    arguments: [
      "threadkeeper/out/bob/response/ping", "threadkeeper/bridge/event", "elsewhere",
      "threadkeeper/out/anna", "threadkeeper/out/anna/", "threadkeeper/out/anna/#",
      "threadkeeper/out/anna/a/+/b", "threadkeeper/out/anna//b", "threadkeeper/out/anna/b/",
      "threadkeeper/out/anna/../bob/x", "threadkeeper/out/annabel/x", "threadkeeper/out/anna/\u{1}",
      "other/out/anna/x", "THREADKEEPER/out/anna/x", "threadkeeper/out/anna/./x", "",
      "threadkeeper/in/anna/announce",
    ])
  func foreignTopic(_ topic: String) throws {
    var message = try bridge.request("ping")
    message.responseTopic = topic
    try bridge.receive([message])
    #expect(bridge.published.first?.publication.topic == "threadkeeper/out/anna/response/ping")
  }

  @Test("Names that only look the same are not the same user's")
  func lookalike() throws {
    var message = try bridge.request("ping", user: "caf\u{E9}")
    message.responseTopic = "threadkeeper/out/cafe\u{301}/x"
    try bridge.receive([message])
    let topic = try #require(bridge.published.first).publication.topic
    #expect(topic.hasBytes(of: "threadkeeper/out/caf\u{E9}/response/ping"))
  }

  @Test("A command that is none is unsupported, and its name is in no topic if it is odd")
  func unknownCommand() throws {
    for (name, topic) in [
      ("party", "party"), ("preferred/getx", "preferred/getx"), ("Ping", "unknown"),
      ("a//b", "unknown"), ("../x", "unknown"), (String(repeating: "x", count: 999), "unknown"),
      ("é", "unknown"), ("$SYS", "unknown"),
    ] {
      try bridge.receive([try bridge.request(name)])
      let answered = try #require(bridge.published.first)
      #expect(answered.code == "unsupported")
      #expect(answered.publication.topic == "threadkeeper/out/anna/response/\(topic)")
    }
  }

  @Test("A request that has expired is not acted upon; an answer lives no longer than its request")
  func expiry() throws {
    var message = try bridge.request(
      "credentials/store",
      ["border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex])
    message.messageExpiry = 0
    try bridge.receive([message])
    #expect(bridge.published.first?.code == "expired")
    #expect(try bridge.credential(Agent.living) == nil)
    for (expiry, left) in [(UInt32(5), UInt32(5)), (600, 30)] {
      message.messageExpiry = expiry
      try bridge.receive([message])
      let queue = AnswerQueue()
      queue.add(bridge.answers, now: bridge.clock.now())
      #expect(queue.next(9, connection: 1, now: bridge.clock.now()).first?.messageExpiry == left)
    }
    #expect(try bridge.credential(Agent.living) != nil)
  }

  @Test("A retained request is rejected as every retained message is")
  func retained() throws {
    var message = try bridge.request("ping")
    message.isRetained = true
    try bridge.receive([message])
    #expect(bridge.answers.isEmpty)
    #expect(bridge.counts.retained == 1)
  }

  @Test("What cannot be read is answered with a code, and the transaction where it can be found")
  func unreadable() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    let cases: [(String, [UInt8], String, String?)] = [
      ("ping", [], "invalid_payload", nil), ("ping", Array("[]".utf8), "invalid_payload", nil),
      ("ping", [0xFF], "invalid_payload", nil),
      ("ping", Array(repeating: 0x5B, count: 999), "invalid_payload", nil),
      ("ping", Array(repeating: 0x20, count: 20_000), "invalid_payload", nil),
      ("credentials/get", Array(#"{"transaction":"t"}"#.utf8), "invalid_payload", "t"),
      (
        "credentials/get", Array(#"{"transaction":"t","border_agent_id":1}"#.utf8),
        "invalid_payload", "t"
      ),
      (
        "credentials/store",
        Array(
          #"{"transaction":"t","border_agent_id":"\#(Agent.living)","dataset":"\#(dataset)00"}"#
            .utf8), "truncated", "t"
      ),
    ]
    for (command, payload, code, transaction) in cases {
      try bridge.receive([
        IncomingMessage(topic: "threadkeeper/in/anna/request/\(command)", payload: payload)
      ])
      #expect(bridge.published.first?.code == code)
      #expect(bridge.published.first?.answer.transaction == transaction)
      #expect(bridge.counts.requestsRefused == 1)
      #expect(bridge.counts.rejected.isEmpty)
    }
  }

  @Test("Every dataset that is not sound has its code, its TLV and its place")
  func vectors() throws {
    for vector in try DatasetVectors.all() where vector.expect != "complete" {
      let answered = try bridge.ask(.checkPreferred, ["dataset": vector.hex])
      #expect(
        answered.code == (vector.expect == "pending" ? "incomplete_dataset" : vector.expect))
      #expect(answered.answer.error?.field == "dataset")
    }
  }
}
