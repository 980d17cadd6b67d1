import SodiumCrypto
import ThreadDataset

/// Somebody's two key pairs: one to open what is sealed to them, one to sign what they seal.
package final class Identity: Sendable {
  /// Bytes of `secrets`.
  static let secretsLength = 64

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
    self.keys = try PublicIdentity(sealingKey: sealing.publicKey, signingKey: signing.publicKey)
    self.sealing = sealing
    self.signing = signing
  }

  private static func guarded(_ secrets: SecretBytes) throws(SodiumError) -> (GuardedKey, GuardedKey) {
    let arena = KeyArena()
    do {
      return try secrets.withUnsafeBytes { bytes in
        let half = bytes.count / 2
        return (
          try arena.key(copying: UnsafeRawBufferPointer(rebasing: bytes[..<half])),
          try arena.key(copying: UnsafeRawBufferPointer(rebasing: bytes[half...]))
        )
      }
    } catch { throw error as? SodiumError ?? .outOfMemory }
  }

  /// What it is made from.
  package var secrets: SecretBytes {
    SecretBytes(capacity: Self.secretsLength) { memory in
      sealing.secretKey.withUnsafeBytes { memory.copyMemory(from: $0) }
      signing.seed.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[32...]).copyMemory(from: $0) }
      return Self.secretsLength
    }
  }
}

extension Identity: CustomStringConvertible, CustomReflectable {
  /// The fingerprint of the public halves.
  package var description: String { keys.fingerprint }
  package var customMirror: Mirror { Mirror(self, children: ["keys": keys.fingerprint]) }
}

/// The public halves of somebody's two key pairs: one to seal to, one to verify with.
package struct PublicIdentity: Sendable {
  /// X25519 and Ed25519, 32 bytes each.
  package let sealingKey: [UInt8]
  package let signingKey: [UInt8]
  /// BLAKE2b-256 of each, 64 lower-case hex digits: `aud` and `iss` of an envelope.
  let sealingHash: String
  let signingHash: String
  /// 128 bits of a hash over both, in groups that two people can compare:
  /// `3f2a-91c0-77be-0d14-a6c9-52e8-1b7f-40d3`.
  package let fingerprint: String

  /// - Throws: `wrongLength`; `unusableKey` for keys that protect nothing or prove nothing.
  package init(sealingKey: [UInt8], signingKey: [UInt8]) throws(SodiumError) {
    guard sealingKey.count == SealingKeyPair.keyLength, signingKey.count == SigningKeyPair.keyLength else {
      throw .wrongLength(
        expected: SealingKeyPair.keyLength + SigningKeyPair.keyLength, found: sealingKey.count + signingKey.count)
    }
    try Sodium.initialize()
    guard SealedBox.isUsable(sealingKey), Ed25519.isUsable(signingKey) else { throw .unusableKey }
    self.sealingKey = sealingKey
    self.signingKey = signingKey
    self.sealingHash = Hexadecimal.encode(try BLAKE2b.hash256(sealingKey))
    self.signingHash = Hexadecimal.encode(try BLAKE2b.hash256(signingKey))
    self.fingerprint = try Self.fingerprint(of: sealingKey + signingKey)
  }

  /// The first 16 digits of the hash: says for whom an envelope is, so that the recipient need not try.
  package var keyID: String { String(sealingHash.prefix(16)) }

  private static func fingerprint(of keys: [UInt8]) throws(SodiumError) -> String {
    let hash = try BLAKE2b.hash256(Array("threadkeeper/identity/v1\0".utf8) + keys)
    let digits = Hexadecimal.encode(hash.prefix(16))
    return stride(from: 0, to: 32, by: 4).map { start in String(digits.dropFirst(start).prefix(4)) }.joined(
      separator: "-")
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

extension PublicIdentity: CustomStringConvertible { package var description: String { fingerprint } }

/// Why a text is no enrolment line.
package enum EnrolmentLineError: String, Error, Sendable {
  case notALine = "not_a_line"
  case unsupportedVersion = "unsupported_version"
  /// The check at its end does not fit: it was mistyped, or cut.
  case wrongCheck = "wrong_check"
  case unusableKey = "unusable_key"

  package var message: String {
    switch self {
    case .notALine: "this is no enrolment line: it begins with tk1: and has three parts"
    case .unsupportedVersion: "this enrolment line is of a version that is not known here"
    case .wrongCheck: "the enrolment line is mistyped, or a part of it is missing"
    case .unusableKey: "the enrolment line holds keys that nobody makes"
    }
  }
}

extension PublicIdentity {
  /// One line to hand to the other side:
  ///
  /// ```
  /// tk1:<base64url of X25519 key | Ed25519 key, 86 characters>:<first 8 digits of the fingerprint>
  /// ```
  /// Public. It must arrive unaltered, which the fingerprint proves and the check at its end does not.
  package var line: String { "tk1:\(Base64.encode(sealingKey + signingKey, .urlSafe)):\(check)" }

  private var check: String { String(fingerprint.filter { $0 != "-" }.prefix(8)) }

  /// Reads an enrolment line; white space around it does not matter.
  package init(line: String) throws(EnrolmentLineError) {
    let words = line.split { $0.isWhitespace }
    guard words.count == 1, let word = words.first else { throw .notALine }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].hasPrefix("tk") else { throw .notALine }
    guard parts[0] == "tk1" else { throw .unsupportedVersion }
    guard let bytes = Base64.decode(String(parts[1]), .urlSafe), bytes.count == 64 else { throw .wrongCheck }
    let identity: PublicIdentity
    do { identity = try PublicIdentity(sealingKey: Array(bytes[..<32]), signingKey: Array(bytes[32...])) } catch {
      throw .unusableKey
    }
    guard identity.check == parts[2] else { throw .wrongCheck }
    self = identity
  }
}
