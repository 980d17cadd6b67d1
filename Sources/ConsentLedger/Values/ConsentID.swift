// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Names a pending request (`c-…`) or a grant (`g-…`): 64 random bits, so no one can be guessed.
package struct ConsentID: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable {
    case request = "c-"
    case grant = "g-"
  }

  private static let bytes = 8

  package let description: String

  static func make(_ kind: Kind) -> ConsentID {
    let digits = RandomBytes.make(bytes).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
    }
    return ConsentID(description: kind.rawValue + digits.joined())
  }

  /// - Returns: nil for what cannot be such an id.
  package init?(_ text: String, _ kind: Kind) {
    let digits = text.utf8.dropFirst(kind.rawValue.utf8.count)
    guard text.utf8.starts(with: kind.rawValue.utf8), digits.count == 2 * Self.bytes,
      digits.allSatisfy({
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      })
    else { return nil }
    description = text
  }

  private init(description: String) { self.description = description }
}

extension ConsentID: Codable {
  package init(from decoder: any Decoder) throws {
    description = try decoder.singleValueContainer().decode(String.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
