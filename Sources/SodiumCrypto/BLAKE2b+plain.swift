// SPDX-License-Identifier: Apache-2.0

import CLibSodium

extension BLAKE2b {
  /// Writes the hash of `message` to `output` (16…64 bytes). There is no key: it tells damage, and no
  /// intent.
  package static func hash(
    _ message: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard (16...64).contains(output.count) else {
      throw .wrongLength(expected: 32, found: output.count)
    }
    let result = crypto_generichash_blake2b(
      try output.requiredPointer(), output.count, message.pointer, UInt64(message.count), nil, 0)
    guard result == 0 else { throw .notAuthentic }
  }
}
