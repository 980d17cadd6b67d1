// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@Suite("Credentials that are shared, as events")
struct InboundCredentialsTests {
  private static let agent = "a1b2c3d4e5f60718"

  private func decode(_ fields: [String: Any]) throws -> InboundEvent {
    try InboundEventDecoder().decode(try Samples.payload(fields), as: .credentials)
  }

  private func sample(_ more: [String: Any] = [:]) throws -> [String: Any] {
    ["dataset": try SampleNetwork.home.dataset(at: 1).hex].merging(more) { $1 }
  }

  @Test("The dataset alone is enough, and names the network that it is about")
  func least() throws {
    let event = try decode(try sample())
    let dataset = try SampleNetwork.home.dataset(at: 1)
    #expect(event.subject == .network(try #require(dataset.extendedPANID)))
    #expect(event.dataset == dataset)
    #expect(event.order == .none && event.name == nil && event.borderAgent == nil)
    #expect(!event.isPreferred)
  }

  @Test("Every field is read, and those of other events count for nothing")
  func everything() throws {
    let event = try decode(
      try sample([
        "border_agent_id": Self.agent.uppercased(), "preferred": true, "name": "Home Assistant",
        "seq": 7, "vendor": "Acme", "ssid": "attic", "ext_address": "00", "thread_state": "asleep",
        "mine": ["of": [1, 2]],
      ]))
    #expect(event.borderAgent == BorderAgentID(hex: Self.agent))
    #expect(event.isPreferred && event.name == "Home Assistant" && event.order == .sequence(7))
    #expect(event.vendor == nil && event.ssid == nil && event.threadState == nil)
    let nulls = #","border_agent_id":null,"preferred":null,"name":null,"seq":null,"id":null}"#
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    #expect(
      try Samples.decode(#"{"dataset":"\#(hex)"\#(nulls)"#, as: .credentials) == decode(sample()))
  }

  @Test(
    "What is wrong is named",
    arguments: [
      (#""preferred":"yes""#, "wrong_type", "preferred"),
      (#""preferred":1"#, "wrong_type", "preferred"),
      (#""preferred":[]"#, "wrong_type", "preferred"),
      (#""border_agent_id":"a1""#, "bad_border_agent_id", "border_agent_id"),
      (#""border_agent_id":7"#, "wrong_type", "border_agent_id"),
      (#""name":7"#, "wrong_type", "name"),
      ("\"name\":\"\(String(repeating: "n", count: 129))\"", "bad_field", "name"),
      (#""seq":-1"#, "wrong_type", "seq"), (#""sealed":{}"#, "unsupported", "sealed"),
    ])
  func wrong(member: String, code: String, field: String) throws {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    let rejection = try Samples.rejection(
      of: #"{"dataset":"\#(hex)",\#(member)}"#, as: .credentials)
    #expect(rejection.code == code && rejection.field == field)
    #expect(!Samples.texts(of: rejection).contains(hex))
  }

  @Test("Without a dataset there is nothing to share", arguments: ["{}", #"{"dataset":null}"#])
  func missing(text: String) throws {
    let rejection = try Samples.rejection(of: text, as: .credentials)
    #expect(rejection.code == "missing_field" && rejection.field == "dataset")
  }

  @Test("In other events a field `preferred` is the publisher's own")
  func elsewhere() throws {
    for value in ["true", "\"yes\"", "[1]"] {
      let event = try Samples.decode(
        #"{"border_agent_id":"\#(Self.agent)","preferred":\#(value)}"#)
      #expect(!event.isPreferred)
    }
  }

  @Test("What lies beside an envelope must not say otherwise", arguments: ["true", "1"])
  func beside(value: String) throws {
    let decoder = InboundEventDecoder()
    let envelope = #"{"v":1}"#
    let read = try decoder.read(
      Array(#"{"sealed":\#(envelope),"preferred":\#(value)}"#.utf8), as: .credentials)
    guard case .sealed(let sealed) = read else {
      Issue.record("it is sealed")
      return
    }
    let same = try Samples.payload(try sample(["preferred": true]))
    let other = try Samples.payload(try sample())
    let rejection = try #require(
      #expect(throws: Rejection.self) { try decoder.decode(other, inside: sealed, sequence: 1) })
    #expect(rejection.code == "outside_differs" && rejection.field == "preferred")
    if value == "true" {
      #expect(try decoder.decode(same, inside: sealed, sequence: 1).isPreferred)
    }
  }
}
