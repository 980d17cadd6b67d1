// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why something cannot be sealed.
package enum SealingError: Error, Equatable, Sendable {
  /// The body is no JSON object.
  case notAnObject
  /// The envelope would have more than `Envelope.limit` bytes.
  case tooLarge
  /// An `id` needs a lifetime, and has 1 to 128 bytes; a lifetime is 1 to 300 seconds.
  case badOrder
  case crypto(SodiumError)

  package var message: String {
    switch self {
    case .notAnObject: "what is to be sealed is no JSON object"
    case .tooLarge:
      "what is to be sealed is too long: an envelope has at most \(Envelope.limit) bytes"
    case .badOrder:
      "an id has 1 to \(Envelope.identifierLimit) bytes, and a lifetime 1 to "
        + "\(Envelope.longestLifetime) seconds"
    case .crypto(let error): error.description
    }
  }
}

extension Envelope {
  /// Where an envelope belongs, and when.
  package struct Place: Sendable {
    /// The whole topic on which it will be published.
    package var topic: String
    package var order: Order
    /// Unix seconds.
    package var now: Int64
    /// Seconds; nil: for ever, which takes an `order` that rises.
    package var lifetime: Int64?

    package init(topic: String, order: Order, now: Int64, lifetime: Int64? = nil) {
      self.topic = topic
      self.order = order
      self.now = now
      self.lifetime = lifetime
    }
  }

  /// - Parameter body: the text of a JSON object. It goes into the envelope as it is.
  package static func seal(
    _ body: [UInt8], to recipient: PublicIdentity, from sender: Identity, at place: Place
  ) throws(SealingError) -> [UInt8] {
    guard (try? UntrustedJSON.check(body, depth: nesting - 1)) == true else {
      throw .notAnObject
    }
    let claims = claims(of: place, to: recipient.sealingHash, from: sender.keys.signingHash)
    guard claims.order != nil, claims.hasSoundLifetime else { throw .badOrder }
    var signed = text(of: claims)
    // The claims are a flat object: the body becomes its last member.
    signed.removeLast()
    signed += bodyMember + body + [UInt8(ascii: "}")]
    defer { wipe(&signed) }
    return try seal(signed: signed, to: recipient, from: sender)
  }

  static let bodyMember = Array(",\"body\":".utf8)

  static func claims(
    of place: Place, to audience: String, from issuer: String
  ) -> EnvelopeClaims {
    var claims = EnvelopeClaims(
      aud: audience, iss: issuer, topic: place.topic, iat: place.now,
      exp: place.lifetime.map { place.now &+ $0 })
    switch place.order {
    case .sequence(let sequence): claims.seq = sequence
    case .identifier(let identifier): claims.id = identifier
    }
    return claims
  }

  /// Signs exactly these bytes, and seals them.
  static func seal(
    signed: [UInt8], to recipient: PublicIdentity, from sender: Identity
  ) throws(SealingError) -> [UInt8] {
    let signature: [UInt8]
    do throws(SodiumError) {
      signature = try sender.signing.sign(domain + signed)
    } catch {
      throw .crypto(error)
    }
    return try seal(
      inside: text(
        of: EnvelopeInside(signed: Base64.encode(signed), sig: Base64.encode(signature))),
      to: recipient)
  }

  /// Fills up and seals.
  static func seal(
    inside: [UInt8], to recipient: PublicIdentity
  ) throws(SealingError) -> [UInt8] {
    let length = (inside.count + block - 1) / block * block
    var padded = inside + [UInt8](repeating: 0x20, count: length - inside.count)
    defer { wipe(&padded) }
    var box = [UInt8](repeating: 0, count: length + SealedBox.overhead)
    do {
      try box.withUnsafeMutableBytes { box in
        try padded.withUnsafeBytes {
          try SealedBox.seal($0, to: recipient.sealingKey, into: box)
        }
      }
    } catch {
      throw .crypto(error as? SodiumError ?? .unusableKey)
    }
    let bytes = text(
      of: EnvelopeOutside(
        v: version, typ: kind, alg: algorithm, kid: recipient.keyID, ct: Base64.encode(box)))
    guard bytes.count <= limit else { throw .tooLarge }
    return bytes
  }

  static func text(of value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts and whole numbers always encode.
    return (try? encoder.encode(value)).map { Array($0) } ?? []
  }
}
