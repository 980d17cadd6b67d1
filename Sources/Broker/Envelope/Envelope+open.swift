// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Envelope {
  /// Opens an envelope and believes nothing of it that is not signed.
  ///
  /// - Parameters:
  ///   - identity: of the reader.
  ///   - senders: who may have signed it.
  ///   - topic: on which it came.
  ///   - now: Unix seconds.
  ///   - skew: seconds that the clocks may differ.
  package static func open(
    _ bytes: [UInt8], with identity: Identity, from senders: [PublicIdentity], topic: String,
    now: Int64, skew: Int64 = Envelope.skew
  ) throws(EnvelopeRefusal) -> OpenedEnvelope {
    guard bytes.count <= limit else { throw .tooLarge }
    var inside = try unseal(bytes, with: identity)
    defer { wipe(&inside) }
    let parts: EnvelopeInside = try read(inside)
    guard var signed = Base64.decode(parts.signed), let signature = Base64.decode(parts.sig) else {
      throw .notAnEnvelope
    }
    defer { wipe(&signed) }
    let claims: EnvelopeClaims = try read(signed)
    guard let issuer = senders.first(where: { $0.signingHash == claims.iss }) else {
      throw .unknownIssuer
    }
    guard Ed25519.isValid(signature, of: domain + signed, by: issuer.signingKey) else {
      throw .badSignature
    }
    guard claims.aud == identity.keys.sealingHash else { throw .wrongAudience }
    guard claims.topic.utf8.elementsEqual(topic.utf8) else { throw .wrongTopic }
    guard let order = claims.order, claims.hasSoundLifetime,
      let body = UntrustedJSON.value(of: "body", in: signed, depth: nesting),
      body.first == UInt8(ascii: "{")
    else { throw .notAnEnvelope }
    try check(claims, now: now, skew: skew)
    return OpenedEnvelope(
      body: body, issuer: issuer, order: order, issuedAt: claims.iat, expiresAt: claims.exp)
  }

  /// The bytes in the box.
  private static func unseal(
    _ bytes: [UInt8], with identity: Identity
  ) throws(EnvelopeRefusal) -> [UInt8] {
    let outside: EnvelopeOutside = try read(bytes)
    guard outside.typ == kind else { throw .notAnEnvelope }
    guard outside.v == version else { throw .unsupportedVersion }
    guard outside.alg == algorithm else { throw .unsupportedAlgorithm }
    guard let keyID = outside.kid, let text = outside.ct else { throw .notAnEnvelope }
    guard keyID == identity.keys.keyID else { throw .unknownKeyID }
    guard let box = Base64.decode(text) else { throw .notAnEnvelope }
    guard box.count > SealedBox.overhead else { throw .cannotOpen }
    var inside = [UInt8](repeating: 0, count: box.count - SealedBox.overhead)
    do {
      try inside.withUnsafeMutableBytes { inside in
        try box.withUnsafeBytes { box in
          try SealedBox.open(box, with: identity.sealing, into: inside)
        }
      }
    } catch {
      throw .cannotOpen
    }
    return inside
  }

  private static func check(
    _ claims: EnvelopeClaims, now: Int64, skew: Int64
  ) throws(EnvelopeRefusal) {
    // Against overflow: numbers near the ends are no times.
    let times = 0...Int64(1) << 40
    guard times.contains(claims.iat) else { throw .notAnEnvelope }
    guard claims.iat <= now + skew else { throw .notYetValid }
    if let exp = claims.exp, now - skew >= exp { throw .expired }
  }

  private static func read<T: Decodable>(_ bytes: [UInt8]) throws(EnvelopeRefusal) -> T {
    guard (try? UntrustedJSON.check(bytes, depth: nesting)) == true,
      let value = try? JSONDecoder().decode(T.self, from: Data(bytes))
    else { throw .notAnEnvelope }
    return value
  }
}
