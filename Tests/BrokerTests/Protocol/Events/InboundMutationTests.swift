// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@Suite("Whatever comes, it is an event or a named rejection")
struct InboundMutationTests {
  /// Codes that can come from a payload alone.
  private static let codes = Set(
    Rejection.Code.allCases.map(\.rawValue) + DatasetError.Code.allCases.map(\.rawValue))

  @Test("Random changes of sound payloads", arguments: 1...4 as ClosedRange<UInt64>)
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var taken = 0
    for round in 0..<1_000 {
      let kind = InboundEventKind.allCases[round % InboundEventKind.allCases.count]
      var payload = Array(
        try Samples.payload(
          kind, ["name": "Küche 👩‍🚒", "seq": 42, "ext_address": "0011223344556677"]))
      for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&payload, &generator) }
      taken += try check(payload, kind) ? 1 : 0
    }
    #expect(taken > 0, "seed \(seed)")
  }

  @Test("Random bytes", arguments: 1...2 as ClosedRange<UInt64>)
  func noise(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<1_000 {
      let count = Int.random(in: 0...200, using: &generator)
      let payload = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      try check(payload, InboundEventKind.allCases[round % 6])
    }
  }

  @Test("Random JSON of the right words")
  func words() throws {
    let words = Array("{}[]:,\"0123456789eE+-.ntf\\u ".utf8).map { [$0] }
    let more = [
      "\"border_agent_id\":\"a1b2c3d4e5f60718\"", "\"dataset\":", "\"seq\":", "null", "true",
      "\"\"",
    ].map { Array($0.utf8) }
    var generator = SeededGenerator(seed: 3)
    for round in 0..<2_000 {
      var payload: [UInt8] = []
      for _ in 0..<Int.random(in: 1...30, using: &generator) {
        payload += (words + more + more).randomElement(using: &generator) ?? []
      }
      try check(payload, InboundEventKind.allCases[round % 6])
    }
  }

  @discardableResult
  private func check(_ payload: [UInt8], _ kind: InboundEventKind) throws -> Bool {
    do {
      let event = try InboundEventDecoder().decode(payload, as: kind)
      #expect(event.kind == kind)
      return true
    } catch {
      #expect(Self.codes.contains(error.code))
      #expect(!error.message.isEmpty)
      #expect(error.message.utf8.count < 300)
      return false
    }
  }

  private func mutate(_ payload: inout [UInt8], _ generator: inout SeededGenerator) {
    guard !payload.isEmpty else { return }
    let index = Int.random(in: payload.indices, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: payload[index] = UInt8.random(in: .min ... .max, using: &generator)
    case 1: payload[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 2: payload.remove(at: index)
    case 3: payload.insert(UInt8.random(in: 0x20..<0x7F, using: &generator), at: index)
    case 4: payload.removeLast(payload.count - index)
    default: payload.insert(contentsOf: payload[index...], at: index)
    }
  }
}
