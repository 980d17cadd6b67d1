// SPDX-License-Identifier: Apache-2.0

/// What the material of a key says about it: PKCS #1 (RFC 8017, appendix A.1) of RSA, X9.63 of elliptic
/// curves. An elliptic curve's public key is `04 | x | y`, and a private one the same and the secret.
struct KeyMaterial {
  /// The SHA-1 of the public key, as a certificate's `pkhh` is.
  let publicKeyHash: [UInt8]
  let bits: Int64

  /// Nil for other types, and for what is none of its type.
  init?(_ bytes: [UInt8], _ attributes: ItemAttributes) {
    let isPrivate = attributes[.keyClass]?.string == kSecAttrKeyClassPrivate
    guard isPrivate || attributes[.keyClass]?.string == kSecAttrKeyClassPublic else { return nil }
    switch attributes[.keyType]?.string {
    case kSecAttrKeyTypeRSA: self.init(rsa: bytes, isPrivate: isPrivate)
    case kSecAttrKeyTypeECSECPrimeRandom: self.init(curve: bytes, isPrivate: isPrivate)
    default: return nil
    }
  }

  /// `{ modulus, exponent }`, or `{ version, modulus, exponent, … }`.
  private init?(rsa bytes: [UInt8], isPrivate: Bool) {
    guard let outer = DERElement(first: bytes[...]), outer.tag == DERElement.sequence,
      outer.whole.count == bytes.count, let parts = outer.children,
      parts.count >= (isPrivate ? 9 : 2), parts.allSatisfy({ $0.tag == DERElement.integer })
    else { return nil }
    let (modulus, exponent) = isPrivate ? (parts[1], parts[2]) : (parts[0], parts[1])
    let digits = modulus.contents.drop { $0 == 0 }
    guard let first = digits.first else { return nil }
    bits = Int64(digits.count * 8 - first.leadingZeroBitCount)
    publicKeyHash = SHA1.hash(DERElement.sequence(of: modulus.whole + exponent.whole))
  }

  private init?(curve bytes: [UInt8], isPrivate: Bool) {
    let parts = isPrivate ? 3 : 2
    let length = (bytes.count - 1) / parts
    // P-256, P-384 and P-521.
    guard bytes.first == 4, [32, 48, 66].contains(length), bytes.count == 1 + parts * length
    else { return nil }
    bits = length == 66 ? 521 : Int64(length) * 8
    publicKeyHash = SHA1.hash(bytes[..<(1 + 2 * length)])
  }
}
