import FoundationEssentials

extension String {
  /// The text with everything escaped that could move the cursor, hide other text or start a line.
  ///
  /// Names come from the radio and from the broker: a terminal must not obey them.
  var printable: String {
    guard unicodeScalars.contains(where: \.isTreacherous) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isTreacherous {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Sequence<String> {
  /// `a, b, c`
  package var listed: String { joined(separator: ", ") }
}

extension Sequence where Element: Equatable {
  /// Each once, where it comes first.
  var uniqued: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}

extension Unicode.Scalar {
  var isTreacherous: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    // Of the format characters only the joiner is harmless, and needed for some emoji.
    case .format: return value != 0x200D
    default: return false
    }
  }
}

extension String {
  /// As one word of a shell.
  package var quoted: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: ":"):
          true
        default: false
        }
      }
    return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
  }
}

/// JSON for scripts and for people: sorted keys in snake_case, indented, one value.
package enum JSONText {
  /// The text of a value, with an end of line.
  ///
  /// - Throws: `CommandFailure` with status 70: a value of ours that has no JSON is our mistake.
  static func pretty(_ value: some Encodable) throws(CommandFailure) -> String {
    try text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
  }

  /// The same on one line, for values that come one after the other.
  package static func line(_ value: some Encodable) throws(CommandFailure) -> String {
    try text(value, [.sortedKeys, .withoutEscapingSlashes])
  }

  private static func text(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws(CommandFailure)
    -> String
  {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = formatting
    do { return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n" } catch {
      throw CommandFailure(.software, "no JSON for \(type(of: value))")
    }
  }
}
