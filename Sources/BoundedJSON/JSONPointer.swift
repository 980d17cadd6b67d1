// SPDX-License-Identifier: Apache-2.0

/// The place of a value in a JSON text (RFC 6901): `/thread/activeDataset`, or nothing for all of it.
package struct JSONPointer: Sendable, Hashable {
  /// As it is written.
  package let text: String
  /// The names on the way, escapes resolved.
  package let tokens: [[UInt8]]

  /// - Parameter text: empty, or tokens with a `/` before each; `~0` stands for `~`, `~1` for `/`.
  /// - Returns: nil for anything else.
  package init?(_ text: String) {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
    var tokens: [[UInt8]] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropFirst()
    {
      guard let token = Self.unescaped(part) else { return nil }
      tokens.append(token)
    }
    self.text = text
    self.tokens = tokens
  }

  private static func unescaped(_ part: Substring.UTF8View) -> [UInt8]? {
    var token: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        token.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return token
  }

  /// The index of an array's element: decimal digits, no leading zero (RFC 6901, section 4).
  static func index(_ token: [UInt8]) -> Int? {
    guard (1...9).contains(token.count), token.count == 1 || token[0] != UInt8(ascii: "0"),
      token.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(String(decoding: token, as: UTF8.self))
  }
}
