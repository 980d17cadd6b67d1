// SPDX-License-Identifier: Apache-2.0

/// Finds values in the text of a JSON object without changing a single byte of them. A parser is to
/// judge the text, before or after.
package enum JSONObjectText {
  /// Whether objects and arrays lie at most so deep within each other. For before the parser.
  package static func isAtMost(_ depth: Int, deep bytes: [UInt8]) -> Bool {
    var open = 0
    var text = TextState()
    for byte in bytes where !text.covers(byte) {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        if open > depth { return false }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      default: break
      }
    }
    return true
  }

  /// The bytes of a member's value in the outermost object, without white space around them.
  ///
  /// - Parameter name: ASCII, as it is written: escapes are not read.
  /// - Returns: nil when there is none, or more than one.
  package static func value(of name: String, in bytes: [UInt8]) -> [UInt8]? {
    let name = Array(name.utf8)
    var found: [UInt8]?
    var depth = 0
    var text = TextState()
    var isKey = true
    var isWanted = false
    var start = 0
    for (position, byte) in bytes.enumerated() {
      let wasInText = text.isInside
      if text.covers(byte) {
        if !wasInText { start = depth == 1 && isKey ? position + 1 : start }
        if !text.isInside, depth == 1, isKey {
          isWanted = bytes[start..<position].elementsEqual(name)
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ":") where depth == 1 && isKey:
        isKey = false
        start = position + 1
      case UInt8(ascii: ","), UInt8(ascii: "}"):
        if depth == 1, !isKey {
          if isWanted {
            if found != nil { return nil }
            found = trimmed(bytes[start..<position])
          }
          isKey = true
          isWanted = false
        }
        if byte == UInt8(ascii: "}") { depth -= 1 }
      default: break
      }
    }
    return found
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let isWhite: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    let rest = bytes.drop(while: isWhite)
    return Array(
      rest.prefix(
        (rest.lastIndex { !isWhite($0) }.map { $0 + 1 } ?? rest.startIndex)
          - rest.startIndex))
  }
}

/// Whether a byte belongs to a text, with its quotes.
private struct TextState {
  private(set) var isInside = false
  private var isEscaped = false

  mutating func covers(_ byte: UInt8) -> Bool {
    guard isInside else {
      isInside = byte == UInt8(ascii: "\"")
      return isInside
    }
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInside = false
    }
    return true
  }
}
