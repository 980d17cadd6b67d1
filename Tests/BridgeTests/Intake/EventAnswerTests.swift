// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@testable import Bridge

@Suite("Events whose publisher asks what became of them")
struct EventAnswerTests {
  private let bridge: TestBridge
  private static let topic = "threadkeeper/out/anna/response/event/1"

  init() throws { bridge = try TestBridge() }

  private func answers(
    _ kind: InboundEventKind, _ fields: [String: Any] = [:], topic: String = topic,
    user: String = "anna", correlation: [UInt8]? = nil, isRetained: Bool = false
  ) throws -> [Publication] {
    var message = try bridge.message(kind, Agent.living, user: user, fields)
    message.responseTopic = topic
    message.correlationData = correlation
    message.isRetained = isRetained
    try bridge.receive([message])
    return bridge.answers.compactMap {
      guard case .publication(let publication, _) = $0 else { return nil }
      return publication
    }
  }

  private func error(_ publication: Publication?) throws -> [String: Any]? {
    let json = Data(try #require(publication).payload)
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let error = object["error"] as? [String: Any]
    #expect(object["status"] as? String == (error == nil ? "ok" : "error"))
    return error
  }

  @Test("What was acted upon is answered with ok, and so is its repetition")
  func taken() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    let fields: [String: Any] = ["dataset": dataset, "seq": 7]
    for _ in 0..<2 {
      let answers = try answers(.announce, fields, correlation: [1, 2])
      #expect(answers.count == 1 && answers.first?.topic == Self.topic)
      #expect(answers.first?.correlationData == [1, 2] && answers.first?.retain == false)
      #expect(try error(answers.first) == nil)
    }
    #expect(bridge.counts.duplicates == 1)
  }

  @Test("What is rejected is answered with the rejection, which is published as before")
  func rejected() throws {
    let unknown = try error(try answers(.heartbeat).first)
    #expect(unknown?["code"] as? String == "not_found")
    #expect(unknown?["field"] as? String == "border_agent_id")
    #expect((unknown?["message"] as? String)?.contains("has not announced itself") == true)
    #expect(try bridge.takeNames() == ["message_rejected"])
    let broken = try error(try answers(.dataset, ["dataset": "0e"]).first)
    #expect(broken?["code"] as? String == "truncated" && broken?["offset"] as? Int == 0)
    #expect(try error(try answers(.ssid, ["ssid": "a"]).first)?["code"] as? String == "not_found")
  }

  @Test("No answer goes to a topic that another user may read, or that is for a router")
  func foreignTopics() throws {
    for topic in [
      "threadkeeper/out/ben/response/event", "threadkeeper/out/anna/dataset/set",
      "threadkeeper/bridge/event", "threadkeeper/out/anna/+", "threadkeeper/out/anna/../ben",
    ] {
      #expect(try answers(.announce, topic: topic).isEmpty, "\(topic)")
    }
  }

  @Test("A retained message is not answered: the broker delivers it at every start")
  func retained() throws {
    #expect(try answers(.announce, isRetained: true).isEmpty)
    #expect(try bridge.takeNames() == ["message_rejected"])
  }
}
