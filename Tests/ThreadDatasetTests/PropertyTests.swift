import TestKit
import Testing
import ThreadDataset

@Suite("What holds for any bytes") struct PropertyTests {
  @Test("Random bytes are decoded or refused, and what is decoded is kept", arguments: 1...8 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...300, using: &generator)
      check((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
  }

  @Test(
    "Random TLVs of known types are decoded or refused, and what is decoded is kept",
    arguments: 1...8 as ClosedRange<UInt64>) func randomTLVs(seed: UInt64)
  {
    var generator = SeededGenerator(seed: seed)
    var decoded = 0
    for _ in 0..<5_000 {
      var bytes: [UInt8] = []
      for type in TLVType.allCases.shuffled(using: &generator).prefix(4) {
        let length = [1, 2, 3, 4, 6, 8, 16].randomElement(using: &generator) ?? 0
        bytes += [type.rawValue, UInt8(length)]
        bytes += (0..<length).map { _ in UInt8.random(in: 0...0x7F, using: &generator) }
      }
      decoded += check(bytes) ? 1 : 0
    }
    #expect(decoded > 0)
  }

  @Test("One changed byte of a real dataset never does harm") func changedByte() throws {
    let real = try OperationalDataset(hex: Samples.realRouterHex).bytes
    for index in real.indices {
      for byte in UInt8.min ... .max {
        var bytes = real
        bytes[index] = byte
        check(bytes)
      }
    }
  }

  @Test("No part of a dataset from its beginning is a complete one", arguments: Samples.soundVectors) func truncation(
    vector: Samples.Vector
  ) throws {
    let bytes = try OperationalDataset(hex: vector.hex).bytes
    let lastNeeded = vector.id == "G13-unknownTLVs" ? bytes.count - 7 : bytes.count
    for count in 0..<lastNeeded {
      #expect(throws: DatasetError.self, "\(count) bytes") {
        try OperationalDataset(bytes: Array(bytes.prefix(count))).requireComplete()
      }
    }
  }

  @Test("Any order of the TLVs matches") func anyOrder() throws {
    var generator = SeededGenerator(seed: 42)
    let first = try Samples.vector("G13-unknownTLVs")
    for _ in 0..<200 {
      let shuffled = try OperationalDataset(bytes: pieces(of: first.bytes).shuffled(using: &generator).flatMap { $0 })
      #expect(shuffled.relation(to: first) == .match)
      #expect(shuffled.kind == .complete)
      #expect(Set(shuffled.unknown) == Set(first.unknown))
    }
  }

  @Test("A changed byte of a secret makes exactly that parameter differ", arguments: [TLVType.networkKey, .pskc])
  func secretByte(type: TLVType) throws {
    let first = try Samples.vector("G1")
    let parameter: DatasetParameter = type == .pskc ? .pskc : .networkKey
    var start = 0
    while first.bytes[start] != type.rawValue { start += 2 + Int(first.bytes[start + 1]) }
    for index in start + 2..<start + 18 {
      for bit in 0..<8 {
        var bytes = first.bytes
        bytes[index] ^= 1 << bit
        let changed = try OperationalDataset(bytes: bytes)
        #expect(changed.relation(to: first) == .conflict([parameter]))
      }
    }
  }

  /// Every property can be asked for, and the bytes are what went in. `false`: refused.
  @discardableResult private func check(_ bytes: [UInt8]) -> Bool {
    guard let dataset = try? OperationalDataset(bytes: bytes) else { return false }
    #expect(dataset.bytes == bytes)
    #expect((try? OperationalDataset(hex: dataset.hex)) == dataset)
    #expect(dataset.relation(to: dataset) == .match)
    _ = (dataset.kind, dataset.unknown, dataset.channelMask?.channels, dataset.networkName)
    _ = (dataset.activeTimestamp, dataset.pendingTimestamp, dataset.delayTimer, dataset.channel)
    _ = (dataset.meshLocalPrefix?.ipv6Text, dataset.domainName, dataset.wakeUpChannel)
    _ = (dataset.panID, dataset.extendedPANID, dataset.securityPolicy?.sendsLegacyBeacons)
    _ = (dataset.networkKey?.isWellKnown, dataset.pskc, dataset.description)
    return true
  }

  private func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count > 1 {
      let length = 2 + Int(rest[rest.startIndex + 1])
      pieces.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}
