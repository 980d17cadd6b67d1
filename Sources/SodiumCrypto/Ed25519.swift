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
