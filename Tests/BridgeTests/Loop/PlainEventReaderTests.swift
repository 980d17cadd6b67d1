// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Plain events")
struct PlainEventReaderTests {
  private static let kinds: [InboundEventKind] = [.announce, .dataset, .heartbeat]
  private static let agent = #""border_agent_id":"A1b2c3d4e5f60718""#
  private static let whole =
    #"{"v":1,"border_agent_id":"a1b2c3d4e5f60718","name":"Living room","vendor":"v","model":"m","#
    + #""ext_address":"0011223344556677","access_point":"ap","ssid":"w","previous_ssid":"u","#
    + #""dataset":"\#(OperationalDataset.of(1).hex)","ext_pan_id":"0101010101010101","seq":18,"#
    + #""thread_state":"leader","partition_id":4294967295,"id":"x","more":true}"#

  /// What both readers make of a payload; nil: the plain one leaves it to the decoder.
  private func compare(_ payload: [UInt8], _ kind: InboundEventKind) throws -> Bool? {
    var datasets = try DatasetReader(key: LoopKit.hashKey)
    guard let plain = PlainEventReader(payload, as: kind) else { return nil }
    var message = plain.message
    if let dataset = plain.dataset {
      guard let summary = datasets.summary(of: dataset), summary.isComplete else { return nil }
      message.dataset = summary
    }
    guard let event = try? InboundEventDecoder().decode(payload, as: kind) else { return false }
    let summary = event.dataset.flatMap { datasets.summary(of: $0.bytes) }
    return RouterMessage(event, dataset: summary) == message
      && event.dataset?.bytes == plain.dataset
  }

  @Test(
    "What routers send is read as the decoder reads it",
    arguments: [
      whole, "{\(agent)}", " {\t\(agent) ,\r\n\"x\" : null , \"y\":\"\",\"z\":12} ",
      #"{"border_agent_id":"000102030405060700000000000000Ff"}"#,
      #"{"border_agent_id":"00010203040506070000000000000000"}"#,
      #"{\#(agent),"seq":0}"#, #"{\#(agent),"seq":1790000000123456789}"#,
      #"{\#(agent),"seq":9999999999999999999}"#, #"{\#(agent),"x":1790000000123456789}"#,
      #"{\#(agent),"thread_state":"child"}"#, #"{\#(agent),"thread_state":"router"}"#,
      #"{\#(agent),"thread_state":"disabled"}"#, #"{\#(agent),"thread_state":"detached"}"#,
      #"{\#(agent),"name":"","id":""}"#,
    ])
  func plain(_ text: String) throws {
    for kind in Self.kinds where kind != .dataset || text == Self.whole {
      #expect(try compare(Array(text.utf8), kind) == true, "\(kind)")
    }
  }

  @Test(
    "What is unusual or wrong is left to the decoder",
    arguments: [
      "", "{", "{}", "[]", "{\(agent)", "{\(agent)}x", "{\(agent),}", "{,\(agent)}",
      "{\(agent),\(agent)}", #"{"border_agent_id":"a1"}"#, #"{"border_agent_id":null}"#,
      #"{"border_agent_id":"g1b2c3d4e5f60718"}"#, #"{"border_agent_id":"0000000000000000"}"#,
      #"{\#(agent),"ext_pan_id":"0000000000000000"}"#, #"{\#(agent),"name":1}"#,
      #"{\#(agent),"name":null}"#, #"{\#(agent),"name":"\u0041"}"#, #"{\#(agent),"name":"é"}"#,
      "{\(agent),\"name\":\"a\u{1}\"}", #"{\#(agent),"seq":01}"#, #"{\#(agent),"seq":-1}"#,
      #"{\#(agent),"seq":1.0}"#, #"{\#(agent),"seq":1e3}"#, #"{\#(agent),"seq":"1"}"#,
      #"{\#(agent),"partition_id":4294967296}"#,
      #"{\#(agent),"seq":18446744073709551616}"#, #"{\#(agent),"x":[]}"#, #"{\#(agent),"x":{}}"#,
      #"{\#(agent),"x":truex}"#, #"{\#(agent),"x":nul}"#, #"{\#(agent),"x":01}"#,
      #"{\#(agent),"sealed":null}"#, #"{\#(agent),"thread_state":"asleep"}"#,
      #"{\#(agent),"ext_pan_id":"01"}"#, #"{\#(agent),"ext_address":""}"#,
      #"{\#(agent),"dataset":"0"}"#, #"{\#(agent),"dataset":" 00"}"#,
      "{\(agent),\"name\":\"\(String(repeating: "n", count: 129))\"}",
      "\u{FEFF}{\(agent)}",
    ])
  func unusual(_ text: String) throws {
    for kind in Self.kinds where kind != .heartbeat || !text.contains("dataset") {
      #expect(try compare(Array(text.utf8), kind) == nil, "\(kind)")
    }
  }

  @Test("Events of other kinds, and datasets that are not sound, are left to the decoder")
  func others() throws {
    let payload = Array("{\(Self.agent)}".utf8)
    for kind in [InboundEventKind.leave, .offline, .ssid, .dataset, .credentials] {
      #expect(PlainEventReader(payload, as: kind) == nil)
    }
    let unsound = Array(#"{\#(Self.agent),"dataset":"0003000099"}"#.utf8)
    #expect(try compare(unsound, .announce) == nil)
  }

  @Test("Whatever comes, nothing is read otherwise than the decoder reads it")
  func random() throws {
    var random = SeededGenerator(seed: 20_261_126)
    let pieces = [
      "\"", "\\", "{", "}", ",", ":", " ", "0", "1", "f", "null", "true", "\u{E9}", "\u{0}",
      Self.agent, #","seq":7"#, #","name":"x""#, #","reason":"refused""#, #","id":null"#,
      #","dataset":"""#, #","sealed":{}"#, "[1]", "-1", "1.5",
    ].map { Array($0.utf8) }
    var (plain, different) = (0, 0)
    for turn in 0..<6_000 {
      var payload = turn % 2 == 0 ? Array(Self.whole.utf8) : Array("{\(Self.agent),\"v\":1}".utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) where !payload.isEmpty {
        let place = Int.random(in: 0..<payload.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: payload[place] = UInt8.random(in: 0...255, using: &random)
        case 1: payload.remove(at: place)
        case 2: payload.insert(contentsOf: pieces.randomElement(using: &random)!, at: place)
        case 3:
          let end = min(payload.count, place + Int.random(in: 0...40, using: &random))
          payload.insert(contentsOf: payload[place..<end], at: place)
        default:
          let end = min(payload.count, place + Int.random(in: 0...40, using: &random))
          payload.removeSubrange(place..<end)
        }
      }
      switch try compare(payload, Self.kinds.randomElement(using: &random)!) {
      case true: plain += 1
      case false: different += 1
      case nil: break
      }
    }
    #expect(different == 0)
    #expect(plain > 500)
  }
}
