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

  /// The hash of `message` without a key: 32 bytes, a name for what is public.
  package static func hash256(_ message: [UInt8]) throws(SodiumError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 32)
    let result = crypto_generichash_blake2b(
      &output, output.count, message, UInt64(message.count), nil, 0)
    guard result == 0 else { throw .notAuthentic }
    return output
  }
}
