// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The public halves of somebody's two key pairs: one to seal to, one to verify with.
package struct PublicIdentity: Sendable {
  /// X25519 and Ed25519, 32 bytes each.
  package let sealingKey: [UInt8]
  package let signingKey: [UInt8]
  /// BLAKE2b-256 of each, 64 hex digits: `aud` and `iss` of an envelope.
  package let sealingHash: String
  package let signingHash: String
  /// 128 bits of a hash over both, in groups that two people can compare:
  /// `3f2a-91c0-77be-0d14-a6c9-52e8-1b7f-40d3`.
  package let fingerprint: String

  /// - Throws: `wrongLength`; `unusableKey` for keys that protect nothing or prove nothing.
  package init(sealingKey: [UInt8], signingKey: [UInt8]) throws(SodiumError) {
    guard sealingKey.count == SealingKeyPair.keyLength,
      signingKey.count == SigningKeyPair.keyLength
    else {
      throw .wrongLength(
        expected: SealingKeyPair.keyLength + SigningKeyPair.keyLength,
        found: sealingKey.count + signingKey.count)
    }
    try Sodium.initialize()
    guard SealedBox.isUsable(sealingKey), Ed25519.isUsable(signingKey) else {
      throw .unusableKey
    }
    self.sealingKey = sealingKey
    self.signingKey = signingKey
    self.sealingHash = try KeyHash.text(of: sealingKey)
    self.signingHash = try KeyHash.text(of: signingKey)
    self.fingerprint = try Self.fingerprint(of: sealingKey + signingKey)
  }

  /// The first 16 digits of the hash: says for whom an envelope is, so that the recipient need not try.
  package var keyID: String { String(sealingHash.prefix(16)) }

  private static func fingerprint(of keys: [UInt8]) throws(SodiumError) -> String {
    let hash = try BLAKE2b.hash256(Array("threadkeeper/identity/v1\0".utf8) + keys)
    let digits = KeyHash.hex(hash.prefix(16))
    return stride(from: 0, to: 32, by: 4).map { start in
      String(digits.dropFirst(start).prefix(4))
    }.joined(separator: "-")
  }
}

extension PublicIdentity: Hashable {
  package static func == (left: PublicIdentity, right: PublicIdentity) -> Bool {
    left.sealingKey == right.sealingKey && left.signingKey == right.signingKey
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(sealingKey)
    hasher.combine(signingKey)
  }
}

extension PublicIdentity: CustomStringConvertible {
  package var description: String { fingerprint }
}
