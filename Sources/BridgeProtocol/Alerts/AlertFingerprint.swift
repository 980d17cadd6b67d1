// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadDataset

/// Names one alert for good: the same home, alert and subject have the same fingerprint.
///
/// 8 bytes of BLAKE2b (RFC 7693) over length-prefixed texts, written as 16 lower-case hex digits.
package struct AlertFingerprint: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/alert-fingerprint/1".utf8)

  package init(home: String, name: AlertName, subject: String) {
    var input: [UInt8] = []
    for text in [home, name.rawValue, subject] {
      let length = UInt32(truncatingIfNeeded: text.utf8.count)
      for shift in [24, 16, 8, 0] { input.append(UInt8(truncatingIfNeeded: length >> shift)) }
      input.append(contentsOf: text.utf8)
    }
    var hash = [UInt8](repeating: 0, count: 16)
    input.withUnsafeBytes { input in
      Self.domain.withUnsafeBytes { domain in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: domain, into: $0) }
      }
    }
    bytes = Array(hash.prefix(8))
  }

  /// As it was stored; `nil` unless it has 8 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 8 else { return nil }
    self.bytes = bytes
  }

  /// As it is published; `nil` unless it has 16 hex digits.
  package init?(hex: String) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  package var description: String { Hexadecimal.encode(bytes) }
}
