// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// BLAKE2b (RFC 7693). Keyed it is a pseudorandom function and a message authentication code.
package enum BLAKE2b {
  /// Writes the hash of `message` under `key` (16…64 bytes) to `output` (16…64 bytes). The
  /// length of the output is part of what is hashed.
  package static func hash(
    _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard (16...64).contains(output.count) else {
      throw .wrongLength(expected: 32, found: output.count)
    }
    guard (16...64).contains(key.count) else {
      throw .wrongLength(expected: 32, found: key.count)
    }
    let result = crypto_generichash_blake2b(
      try output.requiredPointer(), output.count, message.pointer, UInt64(message.count),
      key.pointer,
      key.count)
    guard result == 0 else { throw .notAuthentic }
  }

  /// The same as an array of `count` bytes.
  package static func hash(
    _ message: [UInt8], key: UnsafeRawBufferPointer, count: Int
  ) throws(SodiumError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    let result = crypto_generichash_blake2b(
      &output, count, message, UInt64(message.count), key.pointer, key.count)
    guard (16...64).contains(count), (16...64).contains(key.count), result == 0 else {
      throw .wrongLength(expected: 32, found: count)
    }
    return output
  }

  /// The hash of `message` without a key: 32 bytes, a name for what is public.
  package static func hash256(_ message: [UInt8]) throws(SodiumError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 32)
    let result = crypto_generichash_blake2b(
      &output, output.count, message, UInt64(message.count), nil, 0)
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
