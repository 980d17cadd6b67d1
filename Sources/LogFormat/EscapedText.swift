// SPDX-License-Identifier: Apache-2.0

/// Text from outside, made harmless for one line of a log.
///
/// Whoever publishes on the broker chooses topic and router names. None of them may end the
/// line, move a terminal's cursor or turn the direction of the text: such a scalar is written
/// as JSON would write it, `\n` or `\u009b`. So is a backslash, which keeps the way back plain.
/// Long text is cut, and the line says how much is missing.
struct EscapedText {
  /// Bytes of UTF-8 that one value may take before it is cut: longer than any topic in use
  /// here, short enough that a flood of 64 KiB topics does not fill a disk.
  static let longest = 4_096

  let text: String

  init(_ text: String) {
    self.text = text
  }

  /// True when nothing needs an escape, a quote or a cut.
  var isPlain: Bool {
    text.utf8.count <= Self.longest
      && text.utf8.allSatisfy { byte in
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      }
  }

  /// - Parameter quoted: whether the text stands inside quotation marks, which it then may
  ///   not end.
  func append(to line: inout [UInt8], quoted: Bool) {
    if isPlain {
      line.append(contentsOf: text.utf8)
      return
    }
    let end = line.count + Self.longest
    var taken = 0
    for scalar in text.unicodeScalars {
      if line.count >= end {
        line.append(contentsOf: "…(+\(text.utf8.count - taken) bytes)".utf8)
        return
      }
      taken += UTF8.width(scalar)
      switch scalar {
      case "\n": line.append(contentsOf: #"\n"#.utf8)
      case "\r": line.append(contentsOf: #"\r"#.utf8)
      case "\t": line.append(contentsOf: #"\t"#.utf8)
      case "\\": line.append(contentsOf: #"\\"#.utf8)
      case "\"" where quoted: line.append(contentsOf: #"\""#.utf8)
      case _ where Self.isUnsafe(scalar): Self.appendHexadecimal(scalar, to: &line)
      default: line.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }

  /// Control characters, line and paragraph separators, marks that reverse the reading
  /// direction, and the invisible byte order mark. All lie below U+10000.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  private static func appendHexadecimal(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
    line.append(contentsOf: #"\u"#.utf8)
    for shift in [12, 8, 4, 0] {
      let digit = UInt8(scalar.value >> UInt32(shift) & 0xF)
      line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}
