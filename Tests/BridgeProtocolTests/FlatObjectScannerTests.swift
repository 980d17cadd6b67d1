// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import BridgeProtocol

@Suite("The short way reads what the parser reads, or leaves it to the parser")
struct FlatObjectScannerTests {
  @Test(
    "Usual events go the short way",
    arguments: [
      "{}", " { } \n", #"{"border_agent_id":"a1b2c3d4e5f60718"}"#,
      #"{"border_agent_id": "a1", "name": "Küche", "seq": 18, "time": "2026", "extra": 7}"#,
      #"{"seq":0}"#, #"{"seq":9999999999999999999}"#, #"{"name":""}"#,
    ])
  func usual(text: String) throws {
    let payload = Array(text.utf8)
    #expect(try InboundEventFields(scanning: payload) == parsed(payload))
  }

  @Test(
    "The rest is the parser's",
    arguments: [
      "", "{", "[]", "{}}", "{,}", #"{"name":"a",}"#, #"{"name":"a" "seq":1}"#, #"{"name"}"#,
      #"{"name":"\u0041"}"#, #"{"na\u006de":"A"}"#, #"{"name":null}"#, #"{"name":1}"#,
      #"{"seq":"1"}"#, #"{"seq":-1}"#, #"{"seq":01}"#, #"{"seq":1.0}"#, #"{"seq":1e2}"#,
      #"{"seq":18446744073709551615}"#, #"{"name":"a","name":"b"}"#, #"{"seq":1,"seq":1}"#,
      #"{"sealed":"x"}"#, #"{"more":{}}"#, #"{"more":[1]}"#, #"{"more":true}"#, #"{"ñ":"a"}"#,
      "{\"name\":\"a\tb\"}", "{\"name\":\"a\u{0}\"}", "\u{FEFF}{}", "{}\u{0}",
    ])
  func unusual(text: String) {
    #expect(InboundEventFields(scanning: Array(text.utf8)) == nil)
  }

  @Test("No UTF-8, in a field of ours or in another")
  func notUTF8() {
    for name in ["name", "time"] {
      let payload = Array("{\"\(name)\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
      #expect(InboundEventFields(scanning: payload) == nil)
    }
  }

  @Test("Random changes and random words", arguments: 1...4 as ClosedRange<UInt64>)
  func fuzz(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var taken = 0
    for _ in 0..<5_000 {
      let payload = Self.payload(&generator)
      guard let fields = InboundEventFields(scanning: payload) else { continue }
      taken += 1
      #expect(fields == (try? parsed(payload)), "\(String(decoding: payload, as: UTF8.self))")
    }
    // Otherwise nothing was compared.
    #expect(taken > 500, "seed \(seed)")
  }

  private func parsed(_ payload: [UInt8]) throws -> InboundEventFields {
    try JSONDecoder().decode(InboundEventFields.self, from: Data(payload))
  }

  private static let names = [
    "border_agent_id", "name", "vendor", "model", "ext_address", "access_point", "dataset", "ssid",
    "previous_ssid", "seq", "id", "sealed", "time", "Küche", "",
  ]
  private static let values = [
    "\"\"", "\"a1b2c3d4e5f60718\"", "\"Küche 👩‍🚒\"", "\"\\n\"", "\"\u{7F}\"", "0", "42", "-1", "007",
    "18446744073709551616", "1.5", "null", "true", "{}", "[1]", "",
  ]

  /// Mostly a sound object, of which some bytes may have been changed.
  private static func payload(_ generator: inout SeededGenerator) -> [UInt8] {
    let space = ["", "", "", " ", "\n\t", "\r"]
    var text = "{"
    for index in 0..<Int.random(in: 0...4, using: &generator) {
      if index > 0 { text += "," }
      text += space.randomElement(using: &generator) ?? ""
      // The first values are the usual ones.
      let value =
        Bool.random(using: &generator)
        ? values.prefix(3).randomElement(using: &generator)
        : values.randomElement(using: &generator)
      text += "\"\(names.randomElement(using: &generator) ?? "")\":\(value ?? "")"
      text += space.randomElement(using: &generator) ?? ""
    }
    var payload = Array("\(text)}".utf8)
    if Int.random(in: 0..<3, using: &generator) == 0 {
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: payload.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: payload[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1 where payload.count > 1: payload.remove(at: index)
        default: payload.insert(UInt8.random(in: 0x20..<0x7F, using: &generator), at: index)
        }
      }
    }
    return payload
  }
}
