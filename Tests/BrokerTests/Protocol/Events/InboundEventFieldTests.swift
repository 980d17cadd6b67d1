// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

@Suite("Fields that are wrong")
struct InboundEventFieldTests {
  static let texts = [
    "border_agent_id", "name", "vendor", "model", "ext_address", "access_point", "dataset", "ssid",
    "previous_ssid", "id", "ext_pan_id", "thread_state", "reason",
  ]
  static let notTexts = ["1", "1.5", "true", "false", "[]", "{}", #"["a"]"#, #"{"a":"b"}"#, "-0"]
  static let notNumbers = [#""42""#, "true", "[]", "{}", "[42]", #""""#]
  static let notWhole = [
    "-1", "1.5", "-0.5", "18446744073709551616", "1e20", "1e400", "-1e400",
  ]

  private func payload(_ field: String, _ value: String) -> String {
    field == "border_agent_id"
      ? #"{"ssid":"attic","\#(field)":\#(value)}"#
      : #"{"border_agent_id":"\#(Samples.agent)","\#(field)":\#(value)}"#
  }

  @Test("A text of another type is named", arguments: texts)
  func wrongTypes(field: String) throws {
    for value in Self.notTexts {
      for kind in InboundEventKind.allCases {
        let rejection = try Samples.rejection(of: payload(field, value), as: kind)
        #expect(rejection.code == "wrong_type", "\(field): \(value)")
        #expect(rejection.field == field)
        #expect(rejection.message == "expected a text")
      }
    }
  }

  @Test("A sequence number of another type is named", arguments: notNumbers)
  func wrongSequenceType(value: String) throws {
    let rejection = try Samples.rejection(of: payload("seq", value))
    #expect(rejection.code == "wrong_type")
    #expect(rejection.field == "seq")
    #expect(rejection.message.contains("whole number"))
  }

  @Test("A sequence number that is negative, broken or too large is named", arguments: notWhole)
  func sequenceOutOfRange(value: String) throws {
    let rejection = try Samples.rejection(of: payload("seq", value))
    #expect(rejection.code == "wrong_type")
    #expect(rejection.field == "seq")
    #expect(rejection.message == "expected a whole number from 0 to 2^64-1")
  }

  @Test("A whole number may be written with a point: JSON knows no other numbers")
  func wholeNumberWithPoint() throws {
    #expect(try Samples.decode(payload("seq", "42.0")).order == .sequence(42))
  }

  @Test(
    "An id of a wrong length or of other characters is named",
    arguments: [
      "", "a", "a1b2c3d4e5f6071", "a1b2c3d4e5f607", "a1b2c3d4e5f607180", "a1b2c3d4e5f6071800",
      "a1b2c3d4e5f60718a1b2c3d4e5f607", "a1b2c3d4e5f60718a1b2c3d4e5f6071800", "g1b2c3d4e5f60718",
      " a1b2c3d4e5f6071", "a1:b2:c3:d4:e5:f6", "0xa1b2c3d4e5f607", "a1b2c3d4e5f60718\n",
      "é1b2c3d4e5f60718",
    ])
  func badIDs(id: String) throws {
    for kind in InboundEventKind.allCases {
      let rejection = try Samples.rejection(
        of: try Samples.payload(kind, ["border_agent_id": id]), as: kind)
      #expect(rejection.code == "bad_border_agent_id")
      #expect(rejection.field == "border_agent_id")
      #expect(rejection.message.contains("16 or 32 hex digits"))
      if id.count > 3 { #expect(!rejection.message.contains(id)) }
    }
  }

  @Test(
    "Without an id nothing can be done",
    arguments: InboundEventKind.allCases.filter { $0 != .credentials })
  func missingID(kind: InboundEventKind) throws {
    for text in ["{}", #"{"border_agent_id":null}"#, #"{"Border_Agent_ID":"a1b2c3d4e5f60718"}"#] {
      let rejection = try Samples.rejection(of: text, as: kind)
      #expect(rejection.code == "missing_field")
      #expect(rejection.field == "border_agent_id")
    }
  }

  @Test("An access point stands for a router in SSID events only")
  func accessPoint() throws {
    for kind in InboundEventKind.allCases where kind != .ssid && kind != .credentials {
      let rejection = try Samples.rejection(of: #"{"access_point":"a","ssid":"b"}"#, as: kind)
      #expect(rejection.field == "border_agent_id")
    }
  }

  @Test("What a kind of event needs besides is named")
  func neededFields() throws {
    let id = #"{"border_agent_id":"\#(Samples.agent)"}"#
    #expect(try Samples.rejection(of: id, as: .dataset).field == "dataset")
    #expect(try Samples.rejection(of: id, as: .dataset).code == "missing_field")
    #expect(try Samples.rejection(of: id, as: .ssid).field == "ssid")
    #expect(try Samples.rejection(of: id, as: .ssid).code == "missing_field")
  }

  @Test(
    "An extended address has eight bytes",
    arguments: ["", "00", "0011223344556677889", "00112233445566", "001122334455667z"])
  func extendedAddress(text: String) throws {
    let rejection = try Samples.rejection(of: payload("ext_address", "\"\(text)\""))
    #expect(rejection.code == "bad_field")
    #expect(rejection.field == "ext_address")
  }

  @Test(
    "A text that is too long is named and not repeated",
    arguments: ["name", "vendor", "model", "access_point", "ssid", "previous_ssid", "id"])
  func longTexts(field: String) throws {
    let texts = [
      String(repeating: "x", count: InboundLimits.textCharacters + 1),
      String(repeating: "x", count: 10_000),
      // One character by Swift's count, however many marks it carries.
      "x" + String(repeating: "\u{301}", count: 2_000),
    ]
    for text in texts {
      let rejection = try Samples.rejection(of: try Samples.payload(.announce, [field: text]))
      #expect(rejection.code == "bad_field")
      #expect(rejection.field == field)
      #expect(rejection.message.count < 200)
      #expect(!rejection.message.contains("xx"))
    }
  }

  @Test("A sealed envelope is refused by name, not taken for an empty event")
  func sealed() throws {
    for value in [#"{"v":1,"typ":"sealed","ct":"c2VjcmV0"}"#, #""c2VjcmV0""#] {
      let rejection = try Samples.rejection(of: payload("sealed", value))
      #expect(rejection.code == "unsupported")
      #expect(rejection.field == "sealed")
      #expect(!Samples.texts(of: rejection).contains("c2VjcmV0"))
    }
  }

  @Test("Of two fields of one name the first that is not null counts")
  func duplicateKeys() throws {
    let text = #"{"border_agent_id":"\#(Samples.agent)","name":"a","name":"b","seq":1,"seq":2}"#
    let event = try Samples.decode(text)
    #expect(event.name == "a")
    #expect(event.order == .sequence(1))
    let second = try Samples.decode(
      #"{"border_agent_id":"\#(Samples.agent)","name":null,"name":"b","seq":null,"seq":2}"#)
    #expect(second.name == "b")
    #expect(second.order == .sequence(2))
  }
}
