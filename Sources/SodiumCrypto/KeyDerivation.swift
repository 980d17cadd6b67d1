// SPDX-License-Identifier: Apache-2.0

import CLibSodium

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
