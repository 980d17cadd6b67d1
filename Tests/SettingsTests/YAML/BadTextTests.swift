// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

/// What is refused, with which words and where.
struct BadTextTests {
  @Test(
    "Broken and unfinished text has a place",
    arguments: [
      ("[a", 2, 1), ("{a", 2, 1), ("{a: [b, {c: ", 2, 1), ("\"a", 1, 3), ("'a\nb", 2, 2),
      ("a: b: c", 1, 5), ("a: 1\n b: 2\n", 2, 3), ("- a\nb: c\n", 2, 1), ("\"\\x4\"", 1, 4),
      ("\"\\ud800\"", 1, 4), ("a: @b", 1, 4), ("%bad\n---\n", 1, 5), ("!x!y z", 1, 1), ("]", 1, 1),
    ])
  func broken(text: String, line: Int, column: Int) {
    let failure = failure(of: text)
    #expect(failure?.message.hasPrefix("not YAML: ") == true)
    #expect(failure?.position == TextPosition(line: line, column: column))
  }

  @Test("A text that is cut off anywhere is read or refused, and nothing else")
  func cutOff() throws {
    let text =
      "%YAML 1.1\n---\na: &x [1, 'b', \"c\\n\"]\n? *x\n: |2-\n   d\n!t e: {f: !!str , g: ~}\n...\n"
    #expect(failure(of: text) == nil)
    for count in 0..<text.unicodeScalars.count {
      let part = String(text.unicodeScalars.prefix(count))
      if let failure = failure(of: part) {
        #expect(failure.message.hasPrefix("not YAML: "), "\(part)")
        #expect(failure.position.line <= 9)
      }
    }
  }

  @Test("A tab that stands for indentation is called one, another one is just read")
  func tabs() throws {
    let indented = failure(of: "a:\n\tb: 1\n")
    #expect(indented?.message.hasSuffix(" (a tab; YAML is indented with spaces)") == true)
    #expect(indented?.position == TextPosition(line: 2, column: 1))
    #expect(try YAMLNode.read("a:\t1\t# x\n")?.outline == "{a: 1}")
    #expect(try YAMLNode.read("a: \"x\ty\"")?.outline == "{a: 'x\ty'}")
    #expect(failure(of: "a: @b")?.message.contains("tab") == false)
  }

  @Test(
    "Zero bytes, other control characters and stray byte order marks are named with their place",
    arguments: ["\0", "\u{1}", "\u{1B}", "\u{7F}", "\u{9F}", "\u{FEFF}", "\u{FFFE}"])
  func forbidden(character: String) throws {
    let number = try #require(character.unicodeScalars.first?.value)
    let name = String(number, radix: 16, uppercase: true)
    for text in ["a: 1\r\n# é\(character)", "a: 1\r\n'é\(character)'", "a: 1\r\n  \(character)"] {
      let failure = failure(of: text)
      #expect(failure?.message == "YAML allows no character U+\(name) here")
      #expect(failure?.position.line == 2)
      #expect(failure?.position.column == (text.contains("#") ? 4 : 3))
    }
  }

  @Test("A second document is refused where it begins")
  func secondDocument() {
    #expect(
      failure(of: "a: 1\n---\nb: 2\n")
        .map { "\($0.position.line): \($0.message)" }
        == "2: not YAML: expected a single document, found another one")
  }

  @Test("An alias of nothing, of what comes later, or of itself is refused")
  func undefinedAliases() {
    for text in ["a: *x", "a: *x\nb: &x 1", "a: &x [*x]", "&x {a: *x}", "&x {*x : a}"] {
      #expect(failure(of: text)?.message == "not YAML: found undefined alias", "\(text)")
    }
  }

  @Test("Nothing of a text gets into words about it")
  func discretion() {
    for text in [
      "password: hunter2: x", "password: \"hunter2", "password: 'hunter2\n", "[hunter2",
      "password: *hunter2", "password: @hunter2", "password: !hunter2!x y", "a: \"\\hunter2\"",
      "%hunter2\n--- x", "password: hunter2\n\tx: y", "hunter2\n---\nhunter2",
    ] {
      let failure = failure(of: text)
      #expect(failure != nil, "\(text)")
      #expect(failure.map { "\($0)".contains("hunter") } == false, "\(text)")
    }
  }
}

/// Why the text can't be read; nil when it can.
func failure(of text: String) -> YAMLFailure? {
  do throws(YAMLFailure) {
    _ = try YAMLNode.read(text)
    return nil
  } catch {
    return error
  }
}
