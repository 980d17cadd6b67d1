import Home
import SodiumCrypto
import ThreadDataset
import Wire

/// Names one alert for good: the same home, alert and subject have the same fingerprint.
///
/// 8 bytes of BLAKE2b (RFC 7693) over length-prefixed texts, written as 16 lower-case hex digits.
package struct AlertFingerprint: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/alert-fingerprint/1".utf8)

  package init(home: String, name: AlertName, subject: String) {
    var input: [UInt8] = []
    for text in [home, name.word.description, subject] {
      let length = UInt32(truncatingIfNeeded: text.utf8.count)
      for shift in [24, 16, 8, 0] { input.append(UInt8(truncatingIfNeeded: length >> shift)) }
      input.append(contentsOf: text.utf8)
    }
    // The lengths are constants that the function allows.
    let hash = Self.domain.withUnsafeBytes { try? BLAKE2b.hash(input, key: $0, count: 16) }
    bytes = Array((hash ?? []).prefix(8))
  }

  package var description: String { Hexadecimal.encode(bytes) }
}

extension String { package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() } }
