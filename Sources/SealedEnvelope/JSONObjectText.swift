// SPDX-License-Identifier: Apache-2.0

/// Finds values in the text of a JSON object without changing a single octet of them. A parser is to
/// judge the text, before or after.
package enum JSONObjectText {
  /// Whether objects and arrays lie at most so deep within each other. For before the parser.
  package static func isAtMost(_ depth: Int, deep octets: [UInt8]) -> Bool {
    var open = 0
    var text = TextState()
    for octet in octets where !text.covers(octet) {
      switch octet {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        if open > depth { return false }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      default: break
      }
    }
    return true
  }

  /// The octets of a member's value in the outermost object, without white space around them.
  ///
  /// - Parameter name: ASCII, as it is written: escapes are not read.
  /// - Returns: nil when there is none, or more than one.
  package static func value(of name: String, in octets: [UInt8]) -> [UInt8]? {
    let name = Array(name.utf8)
    var found: [UInt8]?
    var depth = 0
    var text = TextState()
    var isKey = true
    var isWanted = false
    var start = 0
    for (position, octet) in octets.enumerated() {
      let wasInText = text.isInside
      if text.covers(octet) {
        if !wasInText { start = depth == 1 && isKey ? position + 1 : start }
        if !text.isInside, depth == 1, isKey {
          isWanted = octets[start..<position].elementsEqual(name)
        }
        continue
      }
      switch octet {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ":") where depth == 1 && isKey:
        isKey = false
        start = position + 1
      case UInt8(ascii: ","), UInt8(ascii: "}"):
        if depth == 1, !isKey {
          if isWanted {
            if found != nil { return nil }
            found = trimmed(octets[start..<position])
          }
          isKey = true
          isWanted = false
        }
        if octet == UInt8(ascii: "}") { depth -= 1 }
      default: break
      }
    }
    return found
  }

  private static func trimmed(_ octets: ArraySlice<UInt8>) -> [UInt8] {
    let isWhite: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    let rest = octets.drop(while: isWhite)
    return Array(
      rest.prefix(
        (rest.lastIndex { !isWhite($0) }.map { $0 + 1 } ?? rest.startIndex)
          - rest.startIndex))
  }
}

/// Whether an octet belongs to a text, with its quotes.
private struct TextState {
  private(set) var isInside = false
  private var isEscaped = false

  mutating func covers(_ octet: UInt8) -> Bool {
    guard isInside else {
      isInside = octet == UInt8(ascii: "\"")
      return isInside
    }
    if isEscaped {
      isEscaped = false
    } else if octet == UInt8(ascii: "\\") {
      isEscaped = true
    } else if octet == UInt8(ascii: "\"") {
      isInside = false
    }
    return true
  }
}
