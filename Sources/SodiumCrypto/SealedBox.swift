// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Sealing to a public key (libsodium's crypto_box_seal: an ephemeral X25519 key, XSalsa20-Poly1305).
///
/// ```
/// ephemeral public key 32 | tag 16 | ciphertext
/// ```
/// Nobody but the holder of the secret key opens it, not even who sealed it. It does not say who that
/// was.
package enum SealedBox {
  /// Bytes that sealing adds.
  package static let overhead = 48

  /// - Throws: `wrongLength`; `unusableKey` for a public key with which every secret key would agree.
  package static func seal(
    _ message: UnsafeRawBufferPointer, to publicKey: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard publicKey.count == SealingKeyPair.keyLength else {
      throw .wrongLength(expected: SealingKeyPair.keyLength, found: publicKey.count)
    }
    guard output.count == message.count + overhead else {
      throw .wrongLength(expected: message.count + overhead, found: output.count)
    }
    try Sodium.initialize()
    let result = crypto_box_seal(
      try output.requiredPointer(), message.pointer, UInt64(message.count), publicKey)
    guard result == 0 else { throw .unusableKey }
  }

  /// Opens `sealed` into `output`, which must have room for it without the overhead.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, with keys: borrowing SealingKeyPair,
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard sealed.count >= overhead, output.count == sealed.count - overhead else {
      throw .wrongLength(expected: output.count + overhead, found: sealed.count)
    }
    // Where nothing is to be written, it still wants to know where.
    var nothing: UInt8 = 0
    let publicKey = keys.publicKey
    try keys.secretKey.withUnsafeBytes { secret throws(SodiumError) in
      let source = try sealed.requiredPointer()
      let key = try secret.requiredPointer()
      let result =
        if let target = output.pointer {
          crypto_box_seal_open(target, source, UInt64(sealed.count), publicKey, key)
        } else {
          crypto_box_seal_open(&nothing, source, UInt64(sealed.count), publicKey, key)
        }
      guard result == 0 else { throw .notAuthentic }
    }
  }

  /// Whether something can be sealed to this key: 32 bytes, and not one of the few points of small
  /// order, with which everybody would agree on the same secret (RFC 7748, section 6.1).
  package static func isUsable(_ publicKey: [UInt8]) -> Bool {
    guard publicKey.count == SealingKeyPair.keyLength else { return false }
    var shared = [UInt8](repeating: 0, count: 32)
    let anyScalar = [UInt8](repeating: 0x42, count: 32)
    return crypto_scalarmult(&shared, anyScalar, publicKey) == 0
  }
}

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
