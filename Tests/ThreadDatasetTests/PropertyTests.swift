// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

/// Random numbers that are the same in every run, so that a failure can be repeated.
private struct RepeatableGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

@Suite("What holds for any octets")
struct PropertyTests {
  @Test(
    "Random octets are decoded or refused, and what is decoded is kept",
    arguments: 1...8 as ClosedRange<UInt64>)
  func randomOctets(seed: UInt64) {
    var generator = RepeatableGenerator(state: seed &* 0x9E37_79B9_7F4A_7C15)
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...300, using: &generator)
      check((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
  }

  @Test(
    "Random TLVs of known types are decoded or refused, and what is decoded is kept",
    arguments: 1...8 as ClosedRange<UInt64>)
  func randomTLVs(seed: UInt64) {
    var generator = RepeatableGenerator(state: seed &* 0x9E37_79B9_7F4A_7C15)
    var decoded = 0
    for _ in 0..<5_000 {
      var octets: [UInt8] = []
      for type in TLVType.allCases.shuffled(using: &generator).prefix(4) {
        let length = [1, 2, 3, 4, 6, 8, 16].randomElement(using: &generator) ?? 0
        octets += [type.rawValue, UInt8(length)]
        octets += (0..<length).map { _ in UInt8.random(in: 0...0x7F, using: &generator) }
      }
      decoded += check(octets) ? 1 : 0
    }
    #expect(decoded > 0)
  }

  @Test("One changed octet of a real dataset never does harm")
  func changedOctet() throws {
    let real = try OperationalDataset(hex: Samples.realRouterHex).octets
    for index in real.indices {
      for octet in UInt8.min ... .max {
        var octets = real
        octets[index] = octet
        check(octets)
      }
    }
  }

  @Test(
    "No part of a dataset from its beginning is a complete one", arguments: Samples.soundVectors)
  func truncation(vector: Samples.Vector) throws {
    let octets = try OperationalDataset(hex: vector.hex).octets
    let lastNeeded = vector.id == "G13-unknownTLVs" ? octets.count - 7 : octets.count
    for count in 0..<lastNeeded {
      #expect(throws: DatasetError.self, "\(count) octets") {
        try OperationalDataset(octets: Array(octets.prefix(count))).requireComplete()
      }
    }
  }

  @Test("Any order of the TLVs matches")
  func anyOrder() throws {
    var generator = RepeatableGenerator(state: 42)
    let first = try Samples.vector("G13-unknownTLVs")
    for _ in 0..<200 {
      let shuffled = try OperationalDataset(
        octets: pieces(of: first.octets).shuffled(using: &generator).flatMap { $0 })
      #expect(shuffled.relation(to: first) == .match)
      #expect(shuffled.kind == .complete)
      #expect(Set(shuffled.unknown) == Set(first.unknown))
    }
  }

  @Test(
    "A changed octet of a secret makes exactly that parameter differ",
    arguments: [TLVType.networkKey, .pskc])
  func secretOctet(type: TLVType) throws {
    let first = try Samples.vector("G1")
    let parameter: DatasetParameter = type == .pskc ? .pskc : .networkKey
    var start = 0
    while first.octets[start] != type.rawValue { start += 2 + Int(first.octets[start + 1]) }
    for index in start + 2..<start + 18 {
      for bit in 0..<8 {
        var octets = first.octets
        octets[index] ^= 1 << bit
        let changed = try OperationalDataset(octets: octets)
        #expect(changed.relation(to: first) == .conflict([parameter]))
      }
    }
  }

  /// Every property can be asked for, and the octets are what went in. `false`: refused.
  @discardableResult
  private func check(_ octets: [UInt8]) -> Bool {
    guard let dataset = try? OperationalDataset(octets: octets) else { return false }
    #expect(dataset.octets == octets)
    #expect((try? OperationalDataset(hex: dataset.hex)) == dataset)
    #expect(dataset.relation(to: dataset) == .match)
    _ = (dataset.kind, dataset.unknown, dataset.channelMask?.channels, dataset.networkName)
    _ = (dataset.activeTimestamp, dataset.pendingTimestamp, dataset.delayTimer, dataset.channel)
    _ = (dataset.meshLocalPrefix?.ipv6Text, dataset.domainName, dataset.wakeUpChannel)
    _ = (dataset.panID, dataset.extendedPANID, dataset.securityPolicy?.sendsLegacyBeacons)
    _ = (dataset.networkKey?.isWellKnown, dataset.pskc, dataset.description)
    return true
  }

  private func pieces(of octets: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = octets[...]
    while rest.count > 1 {
      let length = 2 + Int(rest[rest.startIndex + 1])
      pieces.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}
