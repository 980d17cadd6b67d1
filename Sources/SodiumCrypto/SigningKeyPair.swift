// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// An Ed25519 key pair (RFC 8032).
package struct SigningKeyPair: ~Copyable, Sendable {
  /// Octets of the seed, and of the public key.
  package static let keyLength = 32

  package let publicKey: [UInt8]
  /// What the pair is made from: RFC 8032 calls it the private key.
  package let seed: SecretBytes
  /// As libsodium wants it: the seed and the public key.
  private let expanded: SecretBytes

  /// A new random pair.
  package init() throws(SodiumError) {
    try Sodium.initialize()
    try self.init(seed: SecretBytes(random: Self.keyLength))
  }

  /// - Parameter seed: 32 octets.
  package init(seed: SecretBytes) throws(SodiumError) {
    var publicKey = [UInt8](repeating: 0, count: Self.keyLength)
    self.expanded = try SecretBytes(capacity: 64) { memory throws(SodiumError) in
      try seed.withUnsafeBytes { seed throws(SodiumError) in
        guard seed.count == Self.keyLength else {
          throw .wrongLength(expected: Self.keyLength, found: seed.count)
        }
        let result = crypto_sign_seed_keypair(
          &publicKey, try memory.someOctets(), try seed.someOctets())
        guard result == 0 else { throw .notAuthentic }
      }
      return memory.count
    }
    self.publicKey = publicKey
    self.seed = seed
  }

  /// - Returns: 64 octets.
  package func sign(_ message: [UInt8]) throws(SodiumError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Ed25519.signatureLength)
    try expanded.withUnsafeBytes { key throws(SodiumError) in
      let result = crypto_sign_detached(
        &signature, nil, message, UInt64(message.count), try key.someOctets())
      guard result == 0 else { throw .notAuthentic }
    }
    return signature
  }
}
