import Broker
import SodiumCrypto

/// Sealed envelopes. The first byte says what the rest is: the envelope itself, what is in its box, what is signed, or
/// changes to a valid one. Only an enrolled sender's signature makes one open.
enum EnvelopeFuzz {
  static let topic = "threadkeeper/in/hub/announce"
  static let now: Int64 = 1_790_000_000

  static func check(_ bytes: [UInt8]) throws {
    let people = try People.shared.get()
    var input = InputReader(bytes)
    switch input.byte() {
    case UInt8(ascii: "i"):
      let inside = try people.envelope(around: input.remainder())
      try expect(people.open(inside) == nil, "an envelope without a signature does not open")
    case UInt8(ascii: "s"): try checkSigned(input.remainder(), people)
    case UInt8(ascii: "a"): try checkAltered(&input, people)
    default:
      try expect(people.open(input.remainder()) == nil, "random bytes do not open")
      try expect(people.open(bytes) == nil, "random bytes do not open")
    }
  }

  /// A sender may sign anything; it is still held to the form.
  private static func checkSigned(_ signed: [UInt8], _ people: People) throws {
    let signature = try people.sign(signed)
    let inside = #"{"signed":"\#(Base64.encode(signed))","sig":"\#(Base64.encode(signature))"}"#
    guard let opened = try people.open(people.envelope(around: Array(inside.utf8))) else { return }
    try expect(opened.issuer == people.sender.keys, "the issuer is who signed")
    try expect(opened.body.first == UInt8(ascii: "{"), "a body is an object")
    try expect(opened.body.count <= signed.count && contains(signed, opened.body), "the body was signed")
    try expect(opened.issuedAt <= now + Envelope.skew, "it is not from the future")
    if let end = opened.expiresAt { try expect(end > now - Envelope.skew, "it is not too old") }
    if case .identifier(let text) = opened.order {
      try expect((1...Envelope.identifierLimit).contains(text.utf8.count), "an id is short")
      try expect(opened.expiresAt != nil, "what has an id ends")
    }
  }

  /// Pairs of a place, 16 bits, and a byte to write there.
  private static func checkAltered(_ input: inout InputReader, _ people: People) throws {
    var bytes = people.valid
    while !input.isAtEnd {
      let place = Int(input.byte()) << 8 | Int(input.byte())
      bytes[place % bytes.count] = input.byte()
    }
    guard let opened = people.open(bytes) else { return try expect(bytes != people.valid, "a valid envelope opens") }
    try expect(opened.body == People.body, "what opens says what was sealed")
    try expect(opened.issuer == people.sender.keys, "the issuer is who signed")
  }

  private static func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
  }
}
