// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Base64 (RFC 4648), in a time that does not depend on the octets, and strict: for any octets there is
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

  package static func encode(_ octets: [UInt8], _ alphabet: Alphabet = .standard) -> String {
    let count = sodium_base64_encoded_len(octets.count, alphabet.variant)
    var text = [CChar](repeating: 0, count: count)
    sodium_bin2base64(&text, count, octets, octets.count, alphabet.variant)
    // Without the zero at the end.
    return String(decoding: text.dropLast().lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// - Returns: nil for anything that `encode` does not write.
  package static func decode(_ text: String, _ alphabet: Alphabet = .standard) -> [UInt8]? {
    let characters = text.utf8.map { CChar(bitPattern: $0) }
    guard !characters.isEmpty else { return [] }
    var count = 0
    var octets = [UInt8](repeating: 0, count: characters.count / 4 * 3 + 3)
    let result = sodium_base642bin(
      &octets, octets.count, characters, characters.count, nil, &count, nil, alphabet.variant)
    guard result == 0 else { return nil }
    octets.removeSubrange(count...)
    return octets
  }
}
