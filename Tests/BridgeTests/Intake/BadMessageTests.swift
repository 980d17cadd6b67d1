// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Bad messages between good ones")
struct BadMessageTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
  }

  /// One of each way to be wrong, with the code that it must get.
  private func badMessages() throws -> [(IncomingMessage, String)] {
    let topic = "threadkeeper/in/anna/announce"
    func payload(_ text: String) -> IncomingMessage {
      IncomingMessage(topic: topic, payload: Array(text.utf8))
    }
    var bad: [(IncomingMessage, String)] = [
      (payload("{"), "invalid_json"),
      (payload("[]"), "wrong_type"),
      (payload(#"{"border_agent_id":17}"#), "wrong_type"),
      (payload("{}"), "missing_field"),
      (payload(#"{"border_agent_id":"a1b2"}"#), "bad_border_agent_id"),
      (payload(String(repeating: "x", count: 1 << 20)), "too_large"),
      (payload(String(repeating: "[", count: 10_000)), "too_deep"),
      (IncomingMessage(topic: topic, payload: [0xFF, 0xFE]), "invalid_utf8"),
      (IncomingMessage(topic: "threadkeeper/in/anna/party", payload: []), "unknown_event"),
      (IncomingMessage(topic: "threadkeeper/in/anna", payload: []), "invalid_topic"),
      (IncomingMessage(topic: "threadkeeper/in/anna/request", payload: []), "unknown_event"),
      (
        try bridge.message(.announce, Agent.living, ["sealed": ["v": 1]]), "not_enrolled"
      ),
      (try bridge.message(.heartbeat, "ffffffffffffffff"), "not_found"),
    ]
    for vector in try DatasetVectors.all() where vector.expect != "complete" {
      bad.append(
        (
          try bridge.message(.dataset, Agent.living, ["dataset": vector.hex]),
          vector.expect == "pending" ? "incomplete_dataset" : vector.expect
        ))
    }
    return bad
  }

  @Test("Each is refused by its name")
  func names() throws {
    for (message, code) in try badMessages() {
      #expect(try bridge.receive([message]).rejected == [code: 1], "\(message)")
      let event = try #require(try bridge.takeEvents().first)
      #expect(event.types == .messageRejected)
      #expect(event.detail.code == code)
      #expect(event.detail.topic == message.topic)
      #expect(event.detail.message?.isEmpty == false)
    }
  }

  @Test("A thousand of them between good ones: every good one arrives")
  func thousand() throws {
    var generator = SeededGenerator(seed: 17)
    let bad = try badMessages().map(\.0)
    let good = try (0..<200).map { number in
      try bridge.message(
        .announce, Fleet.agent(number), ["dataset": try SampleNetwork.home.dataset(at: 1).hex])
    }
    var all: [(IncomingMessage, isBad: Bool)] = good.map { ($0, false) }
    for index in 0..<1_000 {
      all.insert(
        (bad[index % bad.count], true), at: Int.random(in: 0...all.count, using: &generator))
    }
    var rejected: Int64 = 0
    var received: Int64 = 0
    for start in stride(from: 0, to: all.count, by: 500) {
      let counts = try bridge.receive(all[start..<min(start + 500, all.count)].map(\.0))
      rejected += counts.rejected.values.reduce(0, +)
      received += counts.received
    }
    #expect(received == 1_200)
    #expect(rejected == 1_000)
    #expect(try bridge.home().routers == 200)
    #expect(try bridge.network(.home)?.routers == 200)
    #expect(try bridge.takeNames().filter { $0 == "message_rejected" }.count == 1_000)
  }

  @Test("Retained messages are ignored, said and counted, whatever they hold")
  func retained() throws {
    var message = try bridge.message(
      .announce, Agent.living, ["dataset": try SampleNetwork.home.dataset(at: 1).hex])
    message.isRetained = true
    let counts = try bridge.receive([message, message])
    #expect(counts.retained == 2)
    #expect(counts.rejected.isEmpty)
    #expect(try bridge.router(Agent.living) == nil)
    let event = try #require(try bridge.takeEvents().first)
    #expect(event.detail.code == "retained")
    #expect(event.detail.message?.contains("retain flag") == true)
  }

  @Test("A retained message is that first of all, even on a topic that stands for nothing")
  func retainedElsewhere() throws {
    for topic in ["in/anna/party", "in/anna", "in/anna/request/ping"] {
      let counts = try bridge.receive([
        IncomingMessage(topic: "threadkeeper/\(topic)", payload: [1], isRetained: true)
      ])
      #expect(counts.retained == 1)
      #expect(counts.rejected.isEmpty)
    }
    // Who clears a topic does what is asked for.
    #expect(
      try bridge.receive([
        IncomingMessage(topic: "threadkeeper/in/anna/announce", payload: [], isRetained: true)
      ]).retained == 0)
  }

  @Test("What is below no base topic is not the daemon's, and leaves no trace")
  func foreign() throws {
    let counts = try bridge.receive([
      IncomingMessage(topic: "elsewhere/in/anna/announce", payload: Array("{}".utf8)),
      IncomingMessage(topic: "threadkeeper", payload: []),
    ])
    #expect(counts.received == 2 && counts.rejected.isEmpty)
    #expect(try bridge.takeEvents().isEmpty)
  }

  @Test("A very long topic is cut, in bytes, before it is stored and published")
  func longTopic() throws {
    let marks = String(repeating: "\u{301}", count: 30_000)
    for topic in ["threadkeeper/in/anna/x" + marks, "threadkeeper/in/an\(marks)/announce"] {
      try bridge.receive([IncomingMessage(topic: topic, payload: Array("{}".utf8))])
      let event = try #require(try bridge.takeEvents().first)
      #expect(event.types == .messageRejected)
      #expect(event.detail.topic.map { $0.utf8.count < 1_000 } == true)
      #expect(event.user.map { $0.utf8.count < 1_000 } ?? true)
    }
  }

  @Test("No rejection shows a payload")
  func secrecy() throws {
    let secret = "5ec4e7c0de5ec4e7c0de5ec4e7c0de00"
    let texts = [
      secret, #"{"border_agent_id":"\#(secret)\#(secret)"}"#, #"{"dataset":"\#(secret)"}"#,
      #"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"0510\#(secret)0510\#(secret)"}"#,
      #"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"0511\#(secret)00"}"#,
      #"{"border_agent_id":"a1b2c3d4e5f60718","dataset":["\#(secret)"]}"#,
      #"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"\#(secret)"#,
    ]
    for text in texts {
      let counts = try bridge.receive([
        IncomingMessage(topic: "threadkeeper/in/anna/announce", payload: Array(text.utf8))
      ])
      #expect(counts.rejected.count == 1)
    }
    let rows = try bridge.database.read { tx in
      try tx.all("SELECT detail FROM event") { $0.text(0) }
    }
    #expect(rows.count == texts.count)
    for row in rows { #expect(!row.contains(secret.prefix(8))) }
  }
}
