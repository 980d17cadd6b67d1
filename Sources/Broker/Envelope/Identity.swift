// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Somebody's two key pairs: one to open what is sealed to them, one to sign what they seal.
package final class Identity: Sendable {
  /// Bytes of `secrets`.
  package static let secretsLength = 64

  package let keys: PublicIdentity
  let sealing: SealingKeyPair
  let signing: SigningKeyPair

  /// A new one.
  package convenience init() throws(SodiumError) {
    try Sodium.initialize()
    try self.init(secrets: SecretBytes(random: Self.secretsLength))
  }

  /// - Parameter secrets: the X25519 secret key and the Ed25519 seed, 64 bytes. They are copied into
  ///   guarded memory.
  package init(secrets: SecretBytes) throws(SodiumError) {
    guard secrets.count == Self.secretsLength else {
      throw .wrongLength(expected: Self.secretsLength, found: secrets.count)
    }
    try Sodium.initialize()
    let (secretKey, seed) = try Self.guarded(secrets)
    let sealing = try SealingKeyPair(secretKey: secretKey)
    let signing = try SigningKeyPair(seed: seed)
    self.keys = try PublicIdentity(
      sealingKey: sealing.publicKey, signingKey: signing.publicKey)
    self.sealing = sealing
    self.signing = signing
  }

  private static func guarded(
    _ secrets: SecretBytes
  ) throws(SodiumError) -> (GuardedKey, GuardedKey) {
    let arena = KeyArena()
    do {
      return try secrets.withUnsafeBytes { bytes in
        let half = bytes.count / 2
        return (
          try arena.key(copying: UnsafeRawBufferPointer(rebasing: bytes[..<half])),
          try arena.key(copying: UnsafeRawBufferPointer(rebasing: bytes[half...]))
        )
      }
    } catch {
      throw error as? SodiumError ?? .outOfMemory
    }
  }

  /// What it is made from.
  package var secrets: SecretBytes {
    SecretBytes(capacity: Self.secretsLength) { memory in
      sealing.secretKey.withUnsafeBytes { memory.copyMemory(from: $0) }
      signing.seed.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: memory[32...]).copyMemory(from: $0)
      }
      return Self.secretsLength
    }
  }
}

extension Identity: CustomStringConvertible, CustomReflectable {
  /// The fingerprint of the public halves.
  package var description: String { keys.fingerprint }
  package var customMirror: Mirror { Mirror(self, children: ["keys": keys.fingerprint]) }
}
