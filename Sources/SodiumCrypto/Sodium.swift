import CLibSodium
import Glibc

/// The library itself.
package enum Sodium {
  /// Prepares libsodium: it picks the fastest code for this processor and opens the random source.
  /// Calling it again costs nothing, from any thread.
  package static func initialize() throws(SodiumError) { guard sodium_init() >= 0 else { throw .notInitialized } }
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
    case .notInitialized: "libsodium found no source of random bytes"
    case .wrongLength(let expected, let found): "expected \(expected) bytes, found \(found)"
    case .notAuthentic: "the bytes were altered, or the key is another one"
    case .unusableKey: "this public key protects nothing"
    case .badPadding: "the padding is damaged"
    case .outOfMemory: "not enough memory"
    case .refusedParameters(let reason): reason
    case .notHardened(let errno): "core dumps could not be forbidden (errno \(errno))"
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

/// Keeps the memory of this process out of files that others may read.
package enum ProcessHardening {
  /// Forbids core dumps, and other processes of this user to attach to this one. Children that
  /// this process starts keep the limit, not the second part.
  package static func forbidCoreDumps() throws(SodiumError) {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { throw .notHardened(errno: errno) }
    guard threadkeeper_forbid_dumping() == 0 else { throw .notHardened(errno: errno) }
  }

  /// Whether core dumps are forbidden now.
  package static var areCoreDumpsForbidden: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_max == 0 else { return false }
    return threadkeeper_dumpable() == 0
  }
}

/// Base64 (RFC 4648), in a time that does not depend on the bytes, and strict: for any bytes there is
/// exactly one text.
package enum Base64 {
  package enum Alphabet: Sendable {
    /// Section 4, with padding.
    case standard
    /// Section 5, without padding.
    case urlSafe

    fileprivate var variant: Int32 {
      switch self {
      case .standard: Int32(sodium_base64_VARIANT_ORIGINAL)
      case .urlSafe: Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING)
      }
    }
  }

  package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
    let count = sodium_base64_encoded_len(bytes.count, alphabet.variant)
    var text = [CChar](repeating: 0, count: count)
    sodium_bin2base64(&text, count, bytes, bytes.count, alphabet.variant)
    // Without the zero at the end.
    return String(decoding: text.dropLast().lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// - Returns: nil for anything that `encode` does not write.
  package static func decode(_ text: String, _ alphabet: Alphabet = .standard) -> [UInt8]? {
    let characters = text.utf8.map { CChar(bitPattern: $0) }
    guard !characters.isEmpty else { return [] }
    var count = 0
    var bytes = [UInt8](repeating: 0, count: characters.count / 4 * 3 + 3)
    let result = sodium_base642bin(
      &bytes, bytes.count, characters, characters.count, nil, &count, nil, alphabet.variant)
    guard result == 0 else { return nil }
    bytes.removeSubrange(count...)
    return bytes
  }
}
