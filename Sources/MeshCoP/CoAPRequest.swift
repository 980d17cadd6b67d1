import SodiumCrypto

/// A request to a border agent, and how its response is recognized: a confirmable POST of CoAP (RFC 7252, section 3)
/// without a payload.
///
/// ```
/// | version 1, type, length of the token | code | message id, 2 | token, 2 | options | FF | payload |
/// ```
package struct CoAPRequest: Sendable {
  /// What a message that was received is (RFC 7252, section 5.2).
  package enum Incoming {
    /// - acknowledgement: the message to be sent, where the response is confirmable.
    case response(code: UInt8, payload: [UInt8], acknowledgement: [UInt8]?)
    /// An empty acknowledgement: the response follows separately.
    case acknowledged
    /// No response to this request.
    case other
    case invalid(String)
  }

  /// 2.04 Changed, which answers a POST.
  static let changed: UInt8 = 0x44

  private enum MessageType: UInt8 { case confirmable, nonConfirmable, acknowledgement, reset }

  let path: [String]
  var name: String { "response to \(path.joined(separator: "/"))" }
  private let identifier: [UInt8]
  private let token: [UInt8]

  /// - Parameters:
  ///   - random: 4 bytes are taken: the token, then the message id.
  ///   - former: of the same session, which has another token and message id.
  package init(path: [String], random: RandomSource, after former: CoAPRequest? = nil) {
    var bytes: [UInt8] = [0, 0, 0, 0]
    bytes.withUnsafeMutableBytes { random($0) }
    if former?.token.elementsEqual(bytes[..<2]) == true { bytes[1] ^= 1 }
    if former?.identifier.elementsEqual(bytes[2...]) == true { bytes[3] ^= 1 }
    (self.path, token, identifier) = (path, Array(bytes[..<2]), Array(bytes[2...]))
  }

  package var bytes: [UInt8] {
    // POST, and options Uri-Path (11), each with the difference to the number of the one before it.
    Self.head(.confirmable, 0x02, tokenLength: token.count) + identifier + token
      + path.enumerated().flatMap { [($0 == 0 ? 0xB0 : 0) | UInt8($1.utf8.count)] + $1.utf8 }
  }

  package func read(_ bytes: UnsafeRawBufferPointer) -> Incoming {
    var reader = ByteReader(bytes[...])
    guard let head = reader.number(1), let code = reader.number(1), let identifier = reader.bytes(2),
      let token = reader.bytes(Int(head & 0x0F)), head >> 6 == 1, token.count <= 8
    else { return .invalid("it is not a CoAP message") }
    let isOwn = identifier.elementsEqual(self.identifier)
    switch MessageType(rawValue: UInt8(head >> 4 & 3)) {
    case .reset: return isOwn ? .invalid("it rejects the request") : .other
    case .acknowledgement where !isOwn: return .other
    case .acknowledgement where code == 0: return .acknowledged
    case let kind:
      guard token.elementsEqual(self.token), code >> 5 >= 2 else { return .other }
      guard let payload = Self.payload(&reader) else {
        return .invalid("it has an invalid or an unknown critical option")
      }
      let acknowledgement = Self.head(.acknowledgement, 0, tokenLength: 0) + identifier
      return .response(
        code: UInt8(code), payload: payload, acknowledgement: kind == .confirmable ? acknowledgement : nil)
    }
  }

  private static func head(_ kind: MessageType, _ code: UInt8, tokenLength: Int) -> [UInt8] {
    [1 << 6 | kind.rawValue << 4 | UInt8(tokenLength), code]
  }

  /// Skips the options (RFC 7252, section 3.1).
  ///
  /// - Returns: nil where they are invalid, or one is critical (section 5.4.1): none is known here.
  private static func payload(_ reader: inout ByteReader<Slice<UnsafeRawBufferPointer>>) -> [UInt8]? {
    var option: UInt64 = 0
    while let byte = reader.number(1) {
      if byte == 0xFF {
        let payload = Array(reader.rest)
        return payload.isEmpty ? nil : payload
      }
      guard let delta = extended(byte >> 4, &reader), let length = extended(byte & 0x0F, &reader),
        reader.bytes(Int(length)) != nil
      else { return nil }
      option += delta
      guard option & 1 == 0 else { return nil }
    }
    return []
  }

  private static func extended(_ nibble: UInt64, _ reader: inout ByteReader<Slice<UnsafeRawBufferPointer>>) -> UInt64? {
    switch nibble {
    case 13: reader.number(1).map { $0 + 13 }
    case 14: reader.number(2).map { $0 + 269 }
    case 15: nil
    default: nibble
    }
  }
}
