// SPDX-License-Identifier: Apache-2.0

import CLibSodium

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
