/// Names in a sentence that a person decides by. Whoever chose the name must not be able to write, end or turn
/// around the sentence.
package enum ShownName {
  /// Characters of a name that are shown at most, counted as Unicode scalars: one visible character may be made of
  /// any number of them.
  package static let longest = 32
  /// The same for a login, a team or a home, which the administrator has named.
  private static let longestAccount = 64

  /// A name that anybody may choose, such as that of a program, router or network: `"Living room"`.
  ///
  /// - Returns: nil where nothing that can be seen is left.
  package static func quoted(_ name: String) -> String? { quoted(name, longest: longest) }

  /// The same of a longer text.
  package static func quoted(_ name: String, longest: Int) -> String? {
    let shown = cleaned(name, longest: longest)
    return shown.isEmpty ? nil : "\"\(shown)\""
  }

  /// The same without quotes, for a field of its own.
  package static func cleaned(_ name: String) -> String { cleaned(name, longest: longest) }

  /// What has a name and an id: `"Attic"`, or the id alone where nothing of the name can be seen.
  ///
  /// - Parameter needsID: others look so named, too: `"Attic" (a1b2c3d4e5f60718)`.
  package static func named(_ name: String?, _ id: some CustomStringConvertible, needsID: Bool) -> String {
    guard let name = name.flatMap(quoted) else { return id.description }
    return needsID ? "\(name) (\(id))" : name
  }

  /// A text of at most so many characters. What is left out is in its middle: names of one maker's devices differ at
  /// the end.
  package static func shortened(_ text: String, longest: Int) -> String {
    let all = text.unicodeScalars
    guard all.count > longest else { return text }
    let end = all.suffix(longest / 3).drop { $0 == " " || isMark($0) || $0.properties.isEmojiModifier }
    return String(String.UnicodeScalarView(all.prefix(longest - longest / 3 - 1) + ["…"] + end))
  }

  /// A login, user, team or home: plain where it is made of ASCII letters, digits and `. _ - @ / +`, quoted
  /// otherwise. So is one that begins with `-`, which a command would take for an option.
  package static func account(_ name: String) -> String {
    let shown = cleaned(name, longest: longestAccount)
    let isPlain =
      !shown.isEmpty && shown == name && !shown.hasPrefix("-")
      && shown.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", "@", "/", "+": true
        default: false
        }
      }
    return isPlain ? shown : "\"\(shown)\""
  }

  private static func cleaned(_ name: String, longest: Int) -> String {
    if isPlain(name), name.utf8.count <= longest { return name }
    var shown = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      guard let next = replacement(for: scalar) else { continue }
      // Nothing to stand on: a leading space, a second one, or a mark that would join the quote before it.
      if shown.last ?? " " == " ", next == " " || isMark(next) { continue }
      shown.append(next)
    }
    if shown.last == " " { shown.removeLast() }
    return shortened(String(shown), longest: longest)
  }

  /// Most names are words of ASCII, with a space between them.
  private static func isPlain(_ name: String) -> Bool {
    let (space, quote, last) = (UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "~"))
    return name.utf8.withContiguousStorageIfAvailable { bytes in
      var before = space
      for byte in bytes {
        guard byte > space && byte <= last && byte != quote || byte == space && before != space else { return false }
        before = byte
      }
      return before != space
    } == true
  }

  /// - Returns: nil for what is removed: controls, direction and other format characters, separators of lines,
  ///   and all that is not seen.
  private static func replacement(for scalar: Unicode.Scalar) -> Unicode.Scalar? {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .lineSeparator, .paragraphSeparator, .control, .format, .surrogate, .privateUse, .unassigned: return nil
    case .spaceSeparator: return " "
    default: break
    }
    // Braille without dots is a symbol to Unicode, and empty to the eye.
    if properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}" { return nil }
    // No name ends its own quotes, nor looks as if it did.
    return properties.isQuotationMark || looksLikeQuotationMark(scalar) ? "'" : scalar
  }

  /// Double primes, ditto marks, ornaments and letters that are drawn like a double quotation mark, though Unicode
  /// does not call them one.
  private static func looksLikeQuotationMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x02BA, 0x02DD, 0x02EE, 0x02F5, 0x02F6, 0x05F2, 0x05F4, 0x1CD3, 0x2033, 0x2034, 0x2036, 0x2037, 0x2057,
      0x275B...0x2760, 0x3003, 0x1F676...0x1F678:
      true
    default: false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }
}

/// A text of somebody else's, made fit for a line of a question: nothing in it ends the line, moves
/// the cursor, turns the direction of the text or pushes the question off the screen.
package struct HarmlessText {
  package let text: String

  /// - Parameter longest: characters that are shown at most.
  package init(_ text: String, longest: Int = 200) {
    var shown = String.UnicodeScalarView()
    // Counted by scalars: a single character may be made of any number of them.
    for scalar in text.unicodeScalars {
      guard shown.count < longest else {
        shown.append("…")
        break
      }
      shown.append(Self.isHarmless(scalar) ? scalar : "\u{FFFD}")
    }
    self.text = String(shown)
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    // Of the invisible ones only the joiner, which some emoji need.
    case .format: scalar == "\u{200D}"
    default: true
    }
  }
}
