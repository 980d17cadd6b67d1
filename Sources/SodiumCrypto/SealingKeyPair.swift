// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// An X25519 key pair (RFC 7748): others seal to the public half, only the secret half opens.
package struct SealingKeyPair: ~Copyable, Sendable {
  /// Bytes of either half.
  package static let keyLength = 32

  package let publicKey: [UInt8]
  package let secretKey: any KeyMaterial

  /// A new random pair.
  package init() throws(SodiumError) {
    try Sodium.initialize()
    try self.init(secretKey: SecretBytes(random: Self.keyLength))
  }

  /// - Parameter secretKey: 32 bytes; any will do. It stays where it is: in a `KeyArena` for pairs that
  ///   live long.
  package init(secretKey: any KeyMaterial) throws(SodiumError) {
    var publicKey = [UInt8](repeating: 0, count: Self.keyLength)
    try secretKey.withUnsafeBytes { secret throws(SodiumError) in
      guard secret.count == Self.keyLength else {
        throw .wrongLength(expected: Self.keyLength, found: secret.count)
      }
      guard crypto_scalarmult_base(&publicKey, try secret.requiredPointer()) == 0 else {
        throw .notAuthentic
      }
    }
    self.publicKey = publicKey
    self.secretKey = secretKey
  }
}
