import CLibSodium

/// BLAKE2b (RFC 7693). Keyed it is a pseudorandom function and a message authentication code.
package enum BLAKE2b {
  /// Writes the hash of `message` under `key` (16…64 bytes) to `output` (16…64 bytes). The
  /// length of the output is part of what is hashed.
  package static func hash(
    _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard (16...64).contains(output.count) else { throw .wrongLength(expected: 32, found: output.count) }
    guard (16...64).contains(key.count) else { throw .wrongLength(expected: 32, found: key.count) }
    let result = crypto_generichash_blake2b(
      try output.requiredPointer(), output.count, message.pointer, UInt64(message.count), key.pointer, key.count)
    guard result == 0 else { throw .notAuthentic }
  }

  /// The same as an array of `count` bytes.
  package static func hash(_ message: [UInt8], key: UnsafeRawBufferPointer, count: Int) throws(SodiumError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    let result = crypto_generichash_blake2b(&output, count, message, UInt64(message.count), key.pointer, key.count)
    guard (16...64).contains(count), (16...64).contains(key.count), result == 0 else {
      throw .wrongLength(expected: 32, found: count)
    }
    return output
  }

  /// The hash of `message` without a key: 32 bytes, a name for what is public.
  package static func hash256(_ message: [UInt8]) throws(SodiumError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 32)
    let result = crypto_generichash_blake2b(&output, output.count, message, UInt64(message.count), nil, 0)
    guard result == 0 else { throw .notAuthentic }
    return output
  }
}

/// Subkeys of a key (libsodium's crypto_kdf: BLAKE2b with salt and personalization).
package enum KeyDerivation {
  /// Writes the subkey `number` of `key` to `output`.
  ///
  /// - Parameters:
  ///   - context: what the subkey is for; exactly eight bytes of ASCII.
  ///   - key: 32 bytes.
  ///   - output: 16…64 bytes.
  package static func derive(
    _ number: UInt64, context: StaticString, from key: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard key.count == 32 else { throw .wrongLength(expected: 32, found: key.count) }
    guard context.hasPointerRepresentation, context.utf8CodeUnitCount == 8 else {
      throw .wrongLength(expected: 8, found: context.utf8CodeUnitCount)
    }
    let target = try output.requiredPointer()
    let source = try key.requiredPointer()
    let result = context.utf8Start.withMemoryRebound(to: CChar.self, capacity: 8) {
      crypto_kdf_derive_from_key(target, output.count, number, $0, source)
    }
    guard result == 0 else { throw .wrongLength(expected: 32, found: output.count) }
  }
}

/// A key from a passphrase: Argon2id (RFC 9106).
package enum Argon2id {
  /// Bytes of the salt.
  package static let saltLength = 16

  /// What the guess of one passphrase costs.
  package struct Parameters: Equatable, Sendable {
    /// Passes over the memory.
    package var operations: Int
    /// Memory in bytes.
    package var memory: Int

    package init(operations: Int, memory: Int) {
      self.operations = operations
      self.memory = memory
    }

    /// libsodium's MODERATE: 3 passes over 256 MiB, some 0.7 s on a desktop processor.
    package static let standard = Parameters(operations: 3, memory: 256 << 20)
    /// The least that is accepted, so that nobody can weaken a stored slot: libsodium's
    /// INTERACTIVE, 2 passes over 64 MiB. OWASP's password storage page asks for 2 over 19 MiB.
    package static let floor = Parameters(operations: 2, memory: 64 << 20)
    /// The most that is accepted, so that an altered slot cannot hold the machine for hours:
    /// the memory of libsodium's SENSITIVE, and four times its passes.
    package static let ceiling = Parameters(operations: 16, memory: 1 << 30)

    /// Throws unless the parameters lie between floor and ceiling.
    package func check() throws(SodiumError) {
      guard operations >= Self.floor.operations, memory >= Self.floor.memory else {
        throw .refusedParameters(
          "Argon2id with \(operations) passes over \(memory) bytes is too weak:"
            + " at least \(Self.floor.operations) over \(Self.floor.memory) are required")
      }
      guard operations <= Self.ceiling.operations, memory <= Self.ceiling.memory else {
        throw .refusedParameters(
          "Argon2id with \(operations) passes over \(memory) bytes is more than is accepted:"
            + " at most \(Self.ceiling.operations) over \(Self.ceiling.memory)")
      }
    }
  }

  /// Derives the key of `passphrase` into `output`. Takes as long as the parameters say.
  package static func derive(
    from passphrase: SecretBytes, salt: UnsafeRawBufferPointer, parameters: Parameters,
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    try parameters.check()
    guard salt.count == saltLength else { throw .wrongLength(expected: saltLength, found: salt.count) }
    let target = try output.requiredPointer()
    let saltBytes = try salt.requiredPointer()
    let result = try passphrase.withUnsafeBytes { bytes throws(SodiumError) in
      let start = try bytes.requiredPointer()
      return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        crypto_pwhash_argon2id(
          target, UInt64(output.count), $0, UInt64(bytes.count), saltBytes, UInt64(parameters.operations),
          parameters.memory, crypto_pwhash_argon2id_alg_argon2id13())
      }
    }
    guard result == 0 else { throw .outOfMemory }
  }
}
