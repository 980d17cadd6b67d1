// SPDX-License-Identifier: Apache-2.0

/// What libsodium can refuse. It never says which bytes were at fault.
package enum SodiumError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The library found no source of random bytes.
  case notInitialized
  /// A key, nonce or buffer has not the length that the algorithm asks for.
  case wrongLength(expected: Int, found: Int)
  /// The bytes were altered, or the key or the additional data is another one.
  case notAuthentic
  /// A public key with which every secret key would agree on the same secret.
  case unusableKey
  /// The padding is not one that this code writes.
  case badPadding
  /// Guarded memory, or the memory that Argon2id works in, could not be had.
  case outOfMemory
  /// Password parameters outside of the floors and ceilings.
  case refusedParameters(String)
  /// The kernel refused to forbid core dumps.
  case notHardened(errno: Int32)

  package var description: String {
    switch self {
    case .notInitialized:
      "libsodium found no source of random bytes"
    case .wrongLength(let expected, let found):
      "expected \(expected) bytes, found \(found)"
    case .notAuthentic:
      "the bytes were altered, or the key is another one"
    case .unusableKey:
      "this public key protects nothing"
    case .badPadding:
      "the padding is damaged"
    case .outOfMemory:
      "not enough memory"
    case .refusedParameters(let reason):
      reason
    case .notHardened(let errno):
      "core dumps could not be forbidden (errno \(errno))"
    }
  }
}
