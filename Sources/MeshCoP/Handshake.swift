import SodiumCrypto

/// The messages of a handshake (RFC 5246, section 7.4; HelloVerifyRequest: RFC 6347, section 4.3.2).
package enum HandshakeType: UInt8, Sendable {
  case clientHello = 1
  case serverHello = 2
  case helloVerifyRequest = 3
  case serverKeyExchange = 12
  case serverHelloDone = 14
  case clientKeyExchange = 16
  case finished = 20

  /// As the RFC has it, for errors.
  var name: String { "\(self)".prefix(1).uppercased() + "\(self)".dropFirst() }
}

/// One message (RFC 6347, section 4.2.2).
///
/// ```
/// | type | length, 3 | sequence, 2 | offset of the fragment, 3 | length of the fragment, 3 | fragment |
/// ```
package struct HandshakeMessage: Sendable {
  package var type: UInt8
  package var sequence: UInt16
  package var body: [UInt8]

  package init(_ type: UInt8, _ sequence: UInt16, _ body: [UInt8]) {
    (self.type, self.sequence, self.body) = (type, sequence, body)
  }

  /// As one fragment, which is how the Finished messages count it.
  package var bytes: [UInt8] {
    let length = bigEndian(body.count, 3)
    return [type] + length + bigEndian(sequence, 2) + [0, 0, 0] + length + body
  }
}

/// Puts fragments together to messages, in the order of their sequence numbers.
package struct HandshakeAssembly: Sendable {
  /// Of all messages that are not complete or not taken: more than any flight of a border router.
  static let mostBytes = 4_096
  /// How far ahead of the next message one may be.
  private static let mostAhead: UInt16 = 4

  private struct Part {
    var type: UInt8
    var body: [UInt8]
    var has: [Bool]
  }

  package var next: UInt16 = 0
  private var parts: [UInt16: Part] = [:]

  package init() {}

  /// Takes the fragments of one record. What does not fit to what has come is dropped, as are messages that have been
  /// taken.
  package mutating func take(_ bytes: some Collection<UInt8>) {
    var reader = ByteReader(ArraySlice(bytes))
    while let type = reader.number(1), let length = reader.number(3), let sequence = reader.number(2),
      let offset = reader.number(3), let fragment = reader.counted(by: 3)
    {
      let number = UInt16(sequence)
      guard number >= next, number - next < Self.mostAhead, Int(offset) + fragment.count <= length else { continue }
      let known = parts.values.reduce(0) { $0 + $1.body.count }
      if parts[number] == nil, known + Int(length) <= Self.mostBytes {
        parts[number] = Part(
          type: UInt8(type), body: .init(repeating: 0, count: Int(length)),
          has: .init(repeating: false, count: Int(length)))
      }
      guard var part = parts[number], part.type == type, part.body.count == length else { continue }
      for (place, byte) in zip(Int(offset)..., fragment) where !part.has[place] {
        (part.body[place], part.has[place]) = (byte, true)
      }
      parts[number] = part
    }
  }

  /// Drops the messages that are not taken: in plaintext no part of what is authentic later may come.
  mutating func discard() { parts = [:] }

  /// The next message, when it is complete.
  package mutating func takeNext() -> HandshakeMessage? {
    guard let part = parts[next], part.has.allSatisfy(\.self) else { return nil }
    parts[next] = nil
    defer { next += 1 }
    return HandshakeMessage(part.type, next, part.body)
  }
}

/// What the client's hello says (RFC 5246, section 7.4.1.2; draft-cragie-tls-ecjpake-01, section 7.2).
///
/// ```
/// | FE FD | random, 32 | session, counted | cookie, counted | suites: C0 FF | compression: none
/// | extensions: 0100 ecjpake_key_kp_pair, 000A supported_groups: P-256, 000B ec_point_formats: uncompressed |
/// ```
struct ClientHello: Sendable {
  var random: [UInt8]
  var cookie: [UInt8] = []
  var firstRound: [UInt8]

  var body: [UInt8] {
    let extensions: [UInt8] =
      [0x01, 0x00] + bigEndian(firstRound.count, 2) + firstRound + [0x00, 0x0A, 0, 4, 0, 2, 0x00, 0x17] + [
        0x00, 0x0B, 0, 2, 1, 0x00,
      ]
    return [0xFE, 0xFD] + random + [0, UInt8(cookie.count)] + cookie + [0, 2, 0xC0, 0xFF, 1, 0x00]
      + bigEndian(extensions.count, 2) + extensions
  }
}

/// What is used of the server's hello (RFC 5246, section 7.4.1.3).
struct ServerHello {
  var random: [UInt8]
  var firstRound: [UInt8]

  /// - Throws: `BorderAgentError.protocolError`.
  init(_ body: [UInt8]) throws(BorderAgentError) {
    func flaw(_ flaw: String) -> BorderAgentError { .protocolError(part: "ServerHello", flaw: flaw) }
    var reader = ByteReader(body[...])
    guard let version = reader.number(2), let random = reader.bytes(32), let session = reader.counted(),
      let suite = reader.number(2), let compression = reader.number(1), let data = reader.counted(by: 2)
    else { throw flaw("it is too short") }
    guard reader.isAtEnd else { throw flaw("bytes follow its end") }
    guard version == 0xFEFD else { throw flaw("it is not DTLS 1.2") }
    guard session.count <= 32 else { throw flaw("its session id is too long") }
    guard suite == 0xC0FF, compression == 0 else { throw flaw("it has another cipher suite, or compression") }
    var (extensions, found) = (ByteReader(data), [UInt64: ArraySlice<UInt8>]())
    while let name = extensions.number(2), let data = extensions.counted(by: 2) {
      guard found.updateValue(data, forKey: name) == nil else { throw flaw("an extension is there twice") }
    }
    guard extensions.isAtEnd else { throw flaw("its extensions are cut off") }
    guard let firstRound = found[0x0100] else { throw flaw("its keys are missing") }
    (self.random, self.firstRound) = (Array(random), Array(firstRound))
  }
}
