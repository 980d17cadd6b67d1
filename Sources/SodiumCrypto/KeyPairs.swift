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
    _ message: UnsafeRawBufferPointer, to publicKey: [UInt8], into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard publicKey.count == SealingKeyPair.keyLength else {
      throw .wrongLength(expected: SealingKeyPair.keyLength, found: publicKey.count)
    }
    guard output.count == message.count + overhead else {
      throw .wrongLength(expected: message.count + overhead, found: output.count)
    }
    try Sodium.initialize()
    let result = crypto_box_seal(try output.requiredPointer(), message.pointer, UInt64(message.count), publicKey)
    guard result == 0 else { throw .unusableKey }
  }

  /// Opens `sealed` into `output`, which must have room for it without the overhead.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, with keys: borrowing SealingKeyPair, into output: UnsafeMutableRawBufferPointer
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
        } else { crypto_box_seal_open(&nothing, source, UInt64(sealed.count), publicKey, key) }
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
      guard secret.count == Self.keyLength else { throw .wrongLength(expected: Self.keyLength, found: secret.count) }
      guard crypto_scalarmult_base(&publicKey, try secret.requiredPointer()) == 0 else { throw .notAuthentic }
    }
    self.publicKey = publicKey
    self.secretKey = secretKey
  }
}

/// Detached signatures (RFC 8032). `SigningKeyPair` makes them.
package enum Ed25519 {
  static let signatureLength = 64

  /// Whether the signature is that of this key over exactly these bytes. Signatures and keys that are
  /// not in their one canonical form are refused, and so are keys of small order.
  package static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureLength, publicKey.count == SigningKeyPair.keyLength else { return false }
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }

  /// Whether this can be the public key of a pair: a point of the prime-order group.
  package static func isUsable(_ publicKey: [UInt8]) -> Bool {
    publicKey.count == SigningKeyPair.keyLength && crypto_core_ed25519_is_valid_point(publicKey) == 1
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
    _ seed: any KeyMaterial, publicKey: inout [UInt8], _ body: (UnsafePointer<UInt8>) -> Bool
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
