// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import Testing

@Suite struct SecretStreamTests {
  private let key = Array<UInt8>(0..<32)
  private let context = Array("what it belongs to".utf8)

  private struct Sealed {
    var header: [UInt8]
    var messages: [[UInt8]]
  }

  private func seal(
    _ messages: [([UInt8], SecretStream.Tag)], key: [UInt8]? = nil
  ) throws -> Sealed {
    var writer = try SecretStreamWriter(key: SecretBytes(copying: key ?? self.key))
    var sealed = Sealed(header: writer.header, messages: [])
    for (message, tag) in messages {
      var output = [UInt8](repeating: 0, count: message.count + SecretStream.overhead)
      try output.withUnsafeMutableBytes { output in
        try message.withUnsafeBytes { message in
          try context.withUnsafeBytes { context in
            try writer.seal(message, additionalData: context, tag: tag, into: output)
          }
        }
      }
      sealed.messages.append(output)
    }
    return sealed
  }

  /// The messages and their tags, up to the first that is refused, and why that was.
  private func open(
    _ sealed: Sealed, key: [UInt8]? = nil, context: [UInt8]? = nil
  ) throws -> (opened: [[UInt8]], tags: [SecretStream.Tag], isOver: Bool, error: SodiumError?) {
    var reader = try SecretStreamReader(
      header: sealed.header, key: SecretBytes(copying: key ?? self.key))
    var opened: [[UInt8]] = []
    var tags: [SecretStream.Tag] = []
    for message in sealed.messages {
      var output = [UInt8](repeating: 0, count: max(message.count - SecretStream.overhead, 0))
      do {
        let tag = try output.withUnsafeMutableBytes { output in
          try message.withUnsafeBytes { message in
            try (context ?? self.context).withUnsafeBytes { context in
              try reader.open(message, additionalData: context, into: output)
            }
          }
        }
        opened.append(output)
        tags.append(tag)
      } catch let error as SodiumError {
        return (opened, tags, reader.isOver, error)
      }
    }
    return (opened, tags, reader.isOver, nil)
  }

  private static let messages: [([UInt8], SecretStream.Tag)] = [
    (Array("first".utf8), .message), ([], .push), (Array(repeating: 7, count: 70_000), .rekey),
    (Array("fourth".utf8), .message), (Array("last".utf8), .final),
  ]

  @Test func opensWhatItSealedWithEveryTag() throws {
    let found = try open(seal(Self.messages))
    #expect(found.opened == Self.messages.map(\.0))
    #expect(found.tags == Self.messages.map(\.1))
    #expect(found.isOver && found.error == nil)
  }

  @Test func theSameTwiceIsNeverSealedTheSame() throws {
    let (first, second) = (try seal(Self.messages), try seal(Self.messages))
    #expect(first.header != second.header)
    #expect(first.messages != second.messages)
  }

  @Test func aStreamThatWasCutSaysNoEnd() throws {
    for count in 0..<Self.messages.count {
      var sealed = try seal(Self.messages)
      sealed.messages.removeLast(sealed.messages.count - count)
      let found = try open(sealed)
      #expect(found.opened.count == count && !found.isOver && found.error == nil)
    }
  }

  @Test func refusesAMessageThatIsMissingRepeatedOrMoved() throws {
    let whole = try seal(Self.messages)
    var missing = whole
    missing.messages.remove(at: 1)
    var repeated = whole
    repeated.messages.insert(whole.messages[0], at: 1)
    var moved = whole
    moved.messages.swapAt(0, 1)
    for (sealed, opened) in [(missing, 1), (repeated, 1), (moved, 0)] {
      let found = try open(sealed)
      #expect(found.opened.count == opened && found.error == .notAuthentic)
    }
  }

  @Test func refusesEveryAlteredByte() throws {
    let whole = try seal([(Array("first".utf8), .message), (Array("last".utf8), .final)])
    for place in whole.header.indices {
      var sealed = whole
      sealed.header[place] ^= 1
      #expect(try open(sealed).error == .notAuthentic, "byte \(place) of the header")
    }
    for place in whole.messages[1].indices {
      var sealed = whole
      sealed.messages[1][place] ^= 0x80
      let found = try open(sealed)
      #expect(found.opened.count == 1 && found.error == .notAuthentic && !found.isOver)
    }
    var short = whole
    short.messages[1].removeLast()
    #expect(try open(short).error == .notAuthentic)
    short.messages[1] = Array(short.messages[1].prefix(16))
    #expect(try open(short).error == .wrongLength(expected: 17, found: 16))
  }

  @Test func refusesAnotherKeyAndAnotherContext() throws {
    let sealed = try seal(Self.messages)
    #expect(try open(sealed, key: Array(1...32)).error == .notAuthentic)
    #expect(try open(sealed, context: []).error == .notAuthentic)
    #expect(try open(sealed, context: context + [0]).error == .notAuthentic)
  }

  @Test func nothingFollowsTheLastMessage() throws {
    #expect(throws: SodiumError.streamEnded) {
      _ = try seal([([1], .final), ([2], .message)])
    }
    var sealed = try seal([([1], .final)])
    sealed.messages.append(try seal([([2], .final)]).messages[0])
    let found = try open(sealed)
    #expect(found.opened == [[1]] && found.isOver && found.error == .streamEnded)
  }

  @Test func refusesLengthsThatCannotBe() throws {
    #expect(throws: SodiumError.wrongLength(expected: 32, found: 31)) {
      _ = try seal([], key: Array(key.dropLast()))
    }
    #expect(throws: SodiumError.wrongLength(expected: 24, found: 23)) {
      _ = try open(Sealed(header: Array(repeating: 0, count: 23), messages: []))
    }
    var writer = try SecretStreamWriter(key: SecretBytes(copying: key))
    var output = [UInt8](repeating: 0, count: 16)
    #expect(throws: SodiumError.wrongLength(expected: 17, found: 16)) {
      try output.withUnsafeMutableBytes { output in
        try [UInt8]().withUnsafeBytes { try writer.seal($0, additionalData: $0, into: output) }
      }
    }
  }

  @Test func aHashWithoutAKeyIsThePublishedOne() throws {
    // RFC 7693, appendix A: BLAKE2b-512 of "abc".
    var output = [UInt8](repeating: 0, count: 64)
    try output.withUnsafeMutableBytes { output in
      try Array("abc".utf8).withUnsafeBytes { try BLAKE2b.hash($0, into: output) }
    }
    #expect(
      output
        == hex(
          "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"))
  }
}
