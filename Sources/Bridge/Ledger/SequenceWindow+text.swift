// SPDX-License-Identifier: Apache-2.0

/// The ids as they are stored: a line each. Within an id a backslash is doubled and a line feed is
/// `\n`, so that any text comes back as it was.
extension SequenceWindow {
  private static let lineFeed = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")
  private static let letter = UInt8(ascii: "n")

  var identifierText: String? {
    guard !identifiers.isEmpty else { return nil }
    var bytes: [UInt8] = []
    for (index, identifier) in identifiers.enumerated() {
      if index > 0 { bytes.append(Self.lineFeed) }
      for byte in identifier.utf8 {
        switch byte {
        case Self.backslash: bytes += [Self.backslash, Self.backslash]
        case Self.lineFeed: bytes += [Self.backslash, Self.letter]
        default: bytes.append(byte)
        }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func identifiers(_ text: String?) -> [String] {
    guard let text else { return [] }
    var identifiers: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        identifiers[identifiers.count - 1].append(byte == Self.letter ? Self.lineFeed : byte)
        isEscaped = false
      } else if byte == Self.backslash {
        isEscaped = true
      } else if byte == Self.lineFeed {
        identifiers.append([])
      } else {
        identifiers[identifiers.count - 1].append(byte)
      }
    }
    return identifiers.map { String(decoding: $0, as: UTF8.self) }
  }
}
