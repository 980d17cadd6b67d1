// SPDX-License-Identifier: Apache-2.0

/// The ids as they are stored: a line each. Within an id a backslash is doubled and a line feed is
/// `\n`, so that any text comes back as it was.
extension SequenceWindow {
  private static let lineFeed = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")
  private static let letter = UInt8(ascii: "n")

  var identifierText: String? {
    guard !identifiers.isEmpty else { return nil }
    var octets: [UInt8] = []
    for (index, identifier) in identifiers.enumerated() {
      if index > 0 { octets.append(Self.lineFeed) }
      for octet in identifier.utf8 {
        switch octet {
        case Self.backslash: octets += [Self.backslash, Self.backslash]
        case Self.lineFeed: octets += [Self.backslash, Self.letter]
        default: octets.append(octet)
        }
      }
    }
    return String(decoding: octets, as: UTF8.self)
  }

  static func identifiers(_ text: String?) -> [String] {
    guard let text else { return [] }
    var identifiers: [[UInt8]] = [[]]
    var isEscaped = false
    for octet in text.utf8 {
      if isEscaped {
        identifiers[identifiers.count - 1].append(octet == Self.letter ? Self.lineFeed : octet)
        isEscaped = false
      } else if octet == Self.backslash {
        isEscaped = true
      } else if octet == Self.lineFeed {
        identifiers.append([])
      } else {
        identifiers[identifiers.count - 1].append(octet)
      }
    }
    return identifiers.map { String(decoding: $0, as: UTF8.self) }
  }
}
