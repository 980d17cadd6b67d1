// SPDX-License-Identifier: Apache-2.0

/// Stands for a source of random bytes. There is one: give `kSecRandomDefault`.
public final class SecRandomRef: Sendable {
  init() {}
}

/// The system's random source.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes of the system.
///
/// - Parameters:
///   - rnd: `kSecRandomDefault`.
///   - count: bytes, not negative.
///   - bytes: memory for as many.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative count.
@discardableResult
public func SecRandomCopyBytes(
  _ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer
) -> Int32 {
  guard count >= 0 else { return errSecParam }
  SystemRandom.fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
  return errSecSuccess
}
