// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Testing
import ThreadDataset
import ThreadRequests

/// The schemas of what others publish beside the code that reads it.
@Suite(
  "What the daemon accepts, and what the schemas allow", .enabled(if: DebianTool.jsonSchema != nil))
struct SchemaAgreementTests {
  private static let id = #""border_agent_id":"a1b2c3d4e5f60718""#
  private static let envelope =
    #"{"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal","kid":"0123456789abcdef","ct":"AAAA"}"#

  private func isAllowed(_ schema: String, _ payload: [UInt8]) throws -> Bool {
    try #require(SchemaLibrary.shared).problem(schema, payload) == nil
  }

  /// Members of events that mean something in one kind and nothing in another, good and bad.
  private static let members = [
    "", #""name":"Hub""#, #""name":null"#, #""name":7"#,
    "\"model\":\"\(String(repeating: "x", count: 128))\"",
    "\"model\":\"\(String(repeating: "x", count: 129))\"", #""vendor":["x"]"#,
    #""ext_address":"00112233AABBCCDD""#, #""ext_address":"0011""#, #""ext_address":null"#,
    #""ext_pan_id":"1111111122222222""#, #""ext_pan_id":"11""#, #""ext_pan_id":null"#,
    #""thread_state":"leader""#, #""thread_state":"asleep""#, #""thread_state":null"#,
    #""reason":"frozen""#, #""reason":"silent""#, #""reason":null"#, #""reason":1"#,
    #""seq":0"#, #""seq":18446744073709551615"#, #""seq":18446744073709551616"#, #""seq":-1"#,
    #""seq":1.5"#, #""seq":null"#, #""seq":"1""#, #""id":"one""#, #""id":1"#,
    #""dataset":null"#, #""dataset":"0""#, #""dataset":"xy""#, #""dataset":7"#,
    "\"dataset\":\"\(String(repeating: "00", count: 255))\"",
    #""ssid":"attic""#, #""ssid":null"#, #""previous_ssid":"cellar""#, #""access_point":"hall""#,
    #""mine":{"of":[1,2]}"#, "\"sealed\":\(envelope)", "\"sealed\":\(envelope),\"dataset\":\"00\"",
    "\"sealed\":\(envelope),\"name\":7", "\"sealed\":\(envelope),\"thread_state\":\"asleep\"",
  ]

  private static let ids = [
    id, "", #""border_agent_id":null"#, #""border_agent_id":7"#, #""border_agent_id":"""#,
    #""border_agent_id":"A1B2C3D4E5F607180000000000000000""#, #""border_agent_id":"a1b2""#,
  ]

  @Test("A plain or sealed event is allowed when the decoder accepts it, and only then")
  func events() throws {
    let decoder = InboundEventDecoder()
    let dataset = try ThreadNetwork("home").hex()
    let members =
      Self.members + ["\"dataset\":\"\(dataset)\"", "\"dataset\":\"\(dataset)\",\"ssid\":\"x\""]
    var counts = [true: 0, false: 0]
    for kind in InboundEventKind.allCases {
      for first in Self.ids {
        for second in members {
          let text = "{" + [first, second].filter { !$0.isEmpty }.joined(separator: ",") + "}"
          let isAccepted = (try? decoder.read(Array(text.utf8), as: kind)) != nil
          counts[isAccepted, default: 0] += 1
          #expect(
            try isAllowed("\(kind.rawValue).json", Array(text.utf8)) == isAccepted,
            "\(kind.rawValue): \(text.prefix(200)), accepted: \(isAccepted)")
        }
      }
    }
    #expect(counts.values.allSatisfy { $0 > 200 }, "\(counts)")
  }

  @Test("Bad messages whose form is wrong are not allowed")
  func badMessages() throws {
    let codes: Set = [
      "wrong_type", "missing_field", "bad_field", "bad_border_agent_id", "invalid_utf8", "not_hex",
    ]
    for bad in BadMessage.all where codes.contains(bad.code) {
      #expect(try !isAllowed("\(bad.kind).json", bad.payload), "\(bad.name)")
    }
  }

  @Test(
    "A request is allowed when the decoder accepts it, and only then",
    arguments: RequestCommand.allCases)
  func requests(_ command: RequestCommand) throws {
    let dataset = "\"dataset\":\"\(try ThreadNetwork("home").hex())\""
    let members = [
      "", Self.id, dataset, "\(Self.id),\(dataset)", "\(Self.id),\"dataset\":\"0\"",
      #""border_agent_id":"a1""#, "\(Self.id),\"dataset\":7", #""ext_pan_id":"1111111122222222""#,
      #""ext_pan_id":"11""#, #""ext_pan_id":7"#, "\(Self.id),\"ext_pan_id\":\"1111111122222222\"",
      "\(dataset),\"ext_pan_id\":\"1111111122222222\"", #""network_name":"home""#,
      #""network_name":null"#,
      #""id":"c-0123456789abcdef""#, #""id":"""#, #""id":"x","scope":"once""#,
      #""id":"x","scope":"ever""#,
      #""id":"x","scope":null"#, #""id":7"#, #""transaction":"r-17""#, #""transaction":7"#,
      "\"transaction\":\"\(String(repeating: "x", count: 257))\"", #""sealed":null"#,
      #""sealed":7"#,
      "\"sealed\":\(Self.envelope)", #""sealed":{"v":1}"#, #""mine":[]"#, #""id":"x","mine":{}"#,
    ]
    for member in members {
      let payload = Array("{\(member)}".utf8)
      let isAccepted: Bool
      do {
        let fields = try RequestFields(json: payload)
        // What is in the envelope is looked at when it is open.
        if fields.sealed == nil { _ = try ThreadRequest(command, fields) }
        isAccepted = true
      } catch {
        isAccepted = false
      }
      let name = command.rawValue.replacing("/", with: "_")
      #expect(
        try isAllowed("request.json#/definitions/\(name)", payload) == isAccepted,
        "\(member.prefix(200)), accepted: \(isAccepted)")
    }
  }
}
