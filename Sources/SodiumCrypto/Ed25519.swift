// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Detached signatures (RFC 8032). `SigningKeyPair` makes them.
package enum Ed25519 {
  package static let signatureLength = 64

  /// Whether the signature is that of this key over exactly these bytes. Signatures and keys that are
  /// not in their one canonical form are refused, and so are keys of small order.
  package static func isValid(
    _ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]
  ) -> Bool {
    guard signature.count == signatureLength, publicKey.count == SigningKeyPair.keyLength else {
      return false
    }
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }

  /// Whether this can be the public key of a pair: a point of the prime-order group.
  package static func isUsable(_ publicKey: [UInt8]) -> Bool {
    publicKey.count == SigningKeyPair.keyLength
      && crypto_core_ed25519_is_valid_point(publicKey) == 1
  }
}

/// An Ed25519 key pair (RFC 8032).
package struct SigningKeyPair: ~Copyable, Sendable {
  /// Bytes of the seed, and of the public key.
  package static let keyLength = 32
  /// Of the key as libsodium wants it: the seed and the public key.
  private static let expandedLength = 64

  package let publicKey: [UInt8]
  /// What the pair is made from: RFC 8032 calls it the private key.
  package let seed: any KeyMaterial

  /// A new random pair.
  package init() throws(SodiumError) {
    try Sodium.initialize()
    try self.init(seed: SecretBytes(random: Self.keyLength))
  }

  /// - Parameter seed: 32 bytes. It stays where it is: in a `KeyArena` for pairs that live long.
  package init(seed: any KeyMaterial) throws(SodiumError) {
    var publicKey = [UInt8](repeating: 0, count: Self.keyLength)
    try Self.withExpanded(seed, publicKey: &publicKey) { _ in true }
    self.publicKey = publicKey
    self.seed = seed
  }

  /// - Returns: 64 bytes.
  package func sign(_ message: [UInt8]) throws(SodiumError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Ed25519.signatureLength)
    var unused = [UInt8](repeating: 0, count: Self.keyLength)
    // Expanded each time: no second copy of the secret lives as long as the pair.
    try Self.withExpanded(seed, publicKey: &unused) { key in
      crypto_sign_detached(&signature, nil, message, UInt64(message.count), key) == 0
    }
    return signature
  }

  private static func withExpanded(
    _ seed: any KeyMaterial, publicKey: inout [UInt8],
    _ body: (UnsafePointer<UInt8>) -> Bool
  ) throws(SodiumError) {
    let found = seed.withUnsafeBytes { $0.count }
    guard found == keyLength else { throw .wrongLength(expected: keyLength, found: found) }
    let isDone = withScratchMemory(expandedLength) { memory -> Bool in
      guard let key = memory.pointer else { return false }
      return seed.withUnsafeBytes { seed in
        guard let source = seed.pointer else { return false }
        return crypto_sign_seed_keypair(&publicKey, key, source) == 0 && body(key)
      }
    }
    guard isDone else { throw .notAuthentic }
  }
}
