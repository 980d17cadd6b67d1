// SPDX-License-Identifier: Apache-2.0

import CLibSodium

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
    guard salt.count == saltLength else {
      throw .wrongLength(expected: saltLength, found: salt.count)
    }
    let target = try output.requiredPointer()
    let saltBytes = try salt.requiredPointer()
    let result = try passphrase.withUnsafeBytes { bytes throws(SodiumError) in
      let start = try bytes.requiredPointer()
      return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        crypto_pwhash_argon2id(
          target, UInt64(output.count), $0, UInt64(bytes.count), saltBytes,
          UInt64(parameters.operations), parameters.memory,
          crypto_pwhash_argon2id_alg_argon2id13())
      }
    }
    guard result == 0 else { throw .outOfMemory }
  }
}
