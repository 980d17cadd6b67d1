import Broker
import SodiumCrypto

/// A sender and a recipient with keys that are the same in every run.
struct People: Sendable {
  static let shared = Result { try People() }
  static let body = Array(#"{"border_agent_id":"0011223344556677"}"#.utf8)

  let sender: Identity
  let recipient: Identity
  /// Opens.
  let valid: [UInt8]
  private let seed: SecretBytes

  private init() throws {
    let (first, second) = (UInt8(0x11), UInt8(0x22))
    seed = SecretBytes(copying: [UInt8](repeating: second, count: 32))
    sender = try Identity(secrets: Self.secrets(first, second))
    recipient = try Identity(secrets: Self.secrets(0x33, 0x44))
    valid = try Envelope.seal(
      Self.body, to: recipient.keys, from: sender,
      at: .init(topic: EnvelopeFuzz.topic, order: .sequence(1), now: EnvelopeFuzz.now)
    ).json()
  }

  private static func secrets(_ first: UInt8, _ second: UInt8) -> SecretBytes {
    SecretBytes(copying: [UInt8](repeating: first, count: 32) + [UInt8](repeating: second, count: 32))
  }

  func open(_ bytes: [UInt8]) -> OpenedEnvelope? {
    try? Envelope.open(bytes, with: recipient, from: [sender.keys], topic: EnvelopeFuzz.topic, now: EnvelopeFuzz.now)
  }

  /// As `Envelope` signs: its own domain goes before the bytes.
  func sign(_ bytes: [UInt8]) throws -> [UInt8] {
    try SigningKeyPair(seed: seed).sign(Array("threadkeeper/envelope/v1\0".utf8) + bytes)
  }

  /// An envelope whose box holds these bytes.
  func envelope(around inside: [UInt8]) throws -> [UInt8] {
    var box = [UInt8](repeating: 0, count: inside.count + SealedBox.overhead)
    try box.withUnsafeMutableBytes { box in
      try inside.withUnsafeBytes { try SealedBox.seal($0, to: recipient.keys.sealingKey, into: box) }
    }
    let text = #"{"v":1,"typ":"\#(Envelope.kind)","alg":"\#(Envelope.algorithm)","#
    return Array((text + #""kid":"\#(recipient.keys.keyID)","ct":"\#(Base64.encode(box))"}"#).utf8)
  }
}
