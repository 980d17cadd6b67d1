// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What is sealed to one reader and signed by one writer, as it travels on the broker.
///
/// ```
/// {"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal",
///  "kid":"<16 hex>",                      whose key opens it
///  "ct":"<base64>"}                       a sealed box, and in it
///     {"signed":"<base64>",               exactly the bytes that are signed:
///      "sig":"<base64>"}<spaces>             {"aud","iss","topic","seq" or "id","iat","exp","body"}
/// ```
///
/// A sealed box says nothing about who made it, so what is inside is signed: as bytes, so that there is
/// no canonical form to disagree on. `aud`, `topic`, `seq` or `id`, and the times keep it from being
/// sealed again for another, moved, repeated or kept.
package enum Envelope {
  package static let version = 1
  package static let kind = "sealed"
  package static let algorithm = "x25519-xsalsa20-poly1305-seal"
  /// The most bytes of an envelope: those of any payload that the daemon takes.
  package static let limit = 16_384
  /// Seconds for which requests and answers live.
  package static let requestLifetime: Int64 = 30
  /// Seconds that `exp` may lie after `iat`: replays are remembered for so long.
  package static let longestLifetime: Int64 = 300
  /// Seconds that two clocks may differ.
  package static let skew: Int64 = 60
  /// What is inside is filled up with spaces to a multiple of so many bytes, so that its length does
  /// not tell how long a dataset or a name is, nor whether there is one: one such block has room for
  /// an event with any dataset.
  static let block = 2048
  /// Goes before the bytes that are signed, so that no signature serves for anything else.
  static let domain = Array("threadkeeper/envelope/v1\0".utf8)
  /// The most bytes of an `id`.
  package static let identifierLimit = 128
  /// Objects and arrays within each other.
  package static let nesting = 16

  /// What makes an envelope different from every other one of its writer.
  package enum Order: Hashable, Sendable {
    /// Rises. For events: they may wait for their reader as long as need be.
    case sequence(UInt64)
    /// Unique while the envelope lives, which is why it needs an `exp`. For requests and answers.
    case identifier(String)
  }
}

extension Envelope {
  /// Bytes of the largest body that an envelope for this place can hold, whoever seals it and to whom:
  /// for who wants to know before there is anything to seal.
  package static func room(at place: Place) -> Int {
    let hash = String(repeating: "0", count: 64)
    let outside = text(
      of: EnvelopeOutside(v: version, typ: kind, alg: algorithm, kid: keyIDSample, ct: ""))
    let blocks = (base64Room(limit - outside.count) - SealedBox.overhead) / block
    let inside = text(of: EnvelopeInside(signed: "", sig: signatureSample))
    let claims = text(of: claims(of: place, to: hash, from: hash))
    return max(0, base64Room(blocks * block - inside.count) - claims.count - bodyMember.count)
  }

  private static let keyIDSample = String(repeating: "0", count: 16)
  private static let signatureSample = Base64.encode([UInt8](repeating: 0, count: 64))

  /// How many bytes are at most so many characters of Base64.
  private static func base64Room(_ characters: Int) -> Int { characters / 4 * 3 }
}

/// The signed object but for its body, which stays as the bytes that it is.
struct EnvelopeClaims: Codable {
  /// The full hash of the recipient's sealing key, and of the signer's signing key: 64 hex digits.
  var aud: String
  var iss: String
  var topic: String
  var seq: UInt64?
  var id: String?
  /// Unix seconds.
  var iat: Int64
  var exp: Int64?

  /// Exactly one of `seq` and `id`, and what an `id` needs.
  var order: Envelope.Order? {
    switch (seq, id) {
    case (let sequence?, nil): return .sequence(sequence)
    case (nil, let identifier?):
      guard exp != nil, (1...Envelope.identifierLimit).contains(identifier.utf8.count) else {
        return nil
      }
      return .identifier(identifier)
    default: return nil
    }
  }

  /// Whether `exp` is after `iat`, and not by more than replays are remembered.
  var hasSoundLifetime: Bool {
    guard let exp else { return true }
    let (lifetime, overflows) = exp.subtractingReportingOverflow(iat)
    return !overflows && lifetime > 0 && lifetime <= Envelope.longestLifetime
  }
}

/// The two layers around it.
struct EnvelopeOutside: Codable {
  var v: Int?
  var typ: String?
  var alg: String?
  var kid: String?
  var ct: String?
}

struct EnvelopeInside: Codable {
  var signed: String
  var sig: String
}

/// What an envelope held, and who signed it.
package struct OpenedEnvelope: Sendable {
  /// A JSON object, exactly as it was signed. It may be secret: wipe it when it is read.
  package var body: [UInt8]
  package let issuer: PublicIdentity
  package let order: Envelope.Order
  /// Unix seconds.
  package let issuedAt: Int64
  package let expiresAt: Int64?
}

extension OpenedEnvelope: CustomStringConvertible, CustomReflectable {
  /// Never the body.
  package var description: String { "an envelope of \(issuer)" }
  package var customMirror: Mirror { Mirror(self, children: ["issuer": issuer.fingerprint]) }
}
