// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

/// The check that every test with a broker ends with must be able to find something.
@Suite(
  "The check of messages", .enabled(if: DebianTool.jsonSchema != nil), .timeLimit(.minutes(30)))
struct MessageCheckTests {
  private let check: MessageCheck

  init() throws {
    check = MessageCheck(
      document: try AsyncAPIDocument.shared.get(), library: try #require(SchemaLibrary.shared))
  }

  private func complaints(_ messages: (topic: String, payload: String)...) throws -> [String] {
    let home = IncomingMessage(
      topic: "house/bridge/state", payload: Array(#"{"state":"online"}"#.utf8))
    return try check.complaints(
      about: [home]
        + messages.map { IncomingMessage(topic: $0.topic, payload: Array($0.payload.utf8)) })
  }

  @Test(
    "What the daemon publishes is checked for its topic, its fields and its QoS, without values")
  func published() throws {
    let key = "00112233445566778899aabbccddeeff"
    let availability = "house/router/a1b2c3d4e5f60718/availability"
    #expect(try complaints((availability, #"{"state":"online"}"#), (availability, "")).isEmpty)
    let wrong = try complaints(
      (availability, #"{"state":"\#(key)"}"#),
      (availability, #"{"state":"online","key":"\#(key)"}"#),
      (availability, "\(key)"), ("house/bridge/state/\(key)", "{}"), ("house/bridge/event", ""),
      ("homeassistant/device/threadkeeper/threadkeeper_house/config", "{}"),
      ("elsewhere/bridge/event", "x"))
    #expect(
      wrong == [
        "house/bridge/state/\(key) is no topic of docs/reference/asyncapi.yaml",
        "\(availability): /state must be one of ['online', 'offline']",
        "\(availability): the payload must not contain {'key'} properties",
        "\(availability): the payload is no JSON",
        "house/bridge/event: the payload is no JSON",
        "homeassistant/device/threadkeeper/threadkeeper_house/config: the payload has no availability, "
          + "availability_mode, components, device, origin, qos",
      ])
    let quick = IncomingMessage(
      topic: "house/bridge/state", payload: Array(#"{"state":"online"}"#.utf8), qos: 0)
    #expect(try check.complaints(about: [quick]) == ["house/bridge/state has QoS 0, not 1"])
  }

  @Test("An event that its schema does not allow has to be refused, as often as it came")
  func events() throws {
    let topic = "house/in/anna/announce"
    let refusal = (
      topic: "house/bridge/event",
      payload:
        #"{"v":1,"event_type":"message_rejected","time":"2026-11-21T04:36:00Z","user":"anna","#
        + #""topic":"\#(topic)","code":"missing_field","message":"m"}"#
    )
    #expect(try complaints((topic, "{}"), refusal).isEmpty)
    #expect(try complaints((topic, "{}"), (topic, "[]"), refusal, refusal).isEmpty)
    let accepted = try complaints((topic, "{}"), (topic, "[]"), refusal)
    #expect(accepted.count == 1 && accepted[0].hasPrefix("\(topic): the schema does not allow"))
    #expect(try complaints(("house/in/anna/dance", "{}")).count == 1)
    #expect(try complaints((topic, #"{"border_agent_id":"a1b2c3d4e5f60718"}"#)).isEmpty)
  }

  @Test("A request that its schema does not allow has to be answered with an error")
  func requests() throws {
    let topic = "house/in/anna/request/credentials/get"
    let answer = (
      topic: "house/out/anna/mine",
      payload:
        #"{"v":1,"status":"error","error":{"code":"invalid_payload","message":"m"},"transaction":"1"}"#
    )
    #expect(try complaints((topic, "{}"), answer).isEmpty)
    #expect(try complaints((topic, "{}")).count == 1)
    #expect(
      try complaints((topic, "{}"), (answer.topic, #"{"v":1,"status":"ok","data":{}}"#)).count == 1)
  }
}
