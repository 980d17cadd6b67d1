// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

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
