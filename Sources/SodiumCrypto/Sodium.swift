// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// The library itself.
package enum Sodium {
  /// Prepares libsodium: it picks the fastest code for this processor and opens the random source.
  /// Calling it again costs nothing, from any thread.
  package static func initialize() throws(SodiumError) {
    guard sodium_init() >= 0 else { throw .notInitialized }
  }
}

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

/// The system's random source. Each call is a system call, so ask once for all that is needed.
package enum RandomBytes {
  package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
  }

  package static func make(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fill(UnsafeMutableRawBufferPointer(buffer))
      initialized = count
    }
  }
}

extension UnsafeRawBufferPointer {
  /// As libsodium wants it: nil when there is nothing.
  var pointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  /// As libsodium wants it where nothing is not allowed.
  func requiredPointer() throws(SodiumError) -> UnsafePointer<UInt8> {
    guard let pointer else { throw .wrongLength(expected: 1, found: 0) }
    return pointer
  }
}

extension UnsafeMutableRawBufferPointer {
  var pointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

  func requiredPointer() throws(SodiumError) -> UnsafeMutablePointer<UInt8> {
    guard let pointer else { throw .wrongLength(expected: 1, found: 0) }
    return pointer
  }
}
