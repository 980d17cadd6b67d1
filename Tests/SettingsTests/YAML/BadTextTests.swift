import Settings
import Testing

/// What is refused, with which words and where.
struct BadTextTests {
  @Test(
    "Broken and unfinished text has a place",
    arguments: [
      ("[a", 2, 1), ("{a", 2, 1), ("{a: [b, {c: ", 2, 1), ("\"a", 1, 3), ("'a\nb", 2, 2), ("a: b: c", 1, 5),
      ("a: 1\n b: 2\n", 2, 3), ("- a\nb: c\n", 2, 1), ("\"\\x4\"", 1, 4), ("\"\\ud800\"", 1, 4), ("a: @b", 1, 4),
      ("%bad\n---\n", 1, 5), ("!x!y z", 1, 1), ("]", 1, 1), ("a: *x", 1, 4), ("a:\n  b: \"c\n", 3, 1),
    ]) func broken(text: String, line: Int, column: Int)
  {
    let failure = failure(of: text)
    #expect(failure?.message.hasPrefix("not YAML: ") == true)
    #expect(failure?.position == TextPosition(line: line, column: column))
  }

  @Test("A text that is cut off anywhere is read or refused, and nothing else") func cutOff() throws {
    let text = "%YAML 1.1\n---\na: &x [1, 'b', \"c\\n\"]\n? *x\n: |2-\n   d\n!t e: {f: !!str , g: ~}\n...\n"
    #expect(failure(of: text) == nil)
    for count in 0..<text.unicodeScalars.count {
      let part = String(text.unicodeScalars.prefix(count))
      if let failure = failure(of: part) {
        #expect(failure.message.hasPrefix("not YAML: "), "\(part)")
        #expect(failure.position.line <= 9)
      }
    }
  }

  @Test("A tab that stands for indentation is called one, another one is just read") func tabs() throws {
    let indented = failure(of: "a:\n\tb: 1\n")
    #expect(indented?.message.hasSuffix(" (a tab; YAML is indented with spaces)") == true)
    #expect(indented?.position == TextPosition(line: 2, column: 1))
    #expect(try YAMLNode.read("a:\t1\t# x\n")?.outline == "{a: 1}")
    #expect(try YAMLNode.read("a: \"x\ty\"")?.outline == "{a: 'x\ty'}")
    #expect(failure(of: "a: @b")?.message.contains("tab") == false)
  }

  @Test(
    "Zero bytes, other control characters and stray byte order marks are named with their place",
    arguments: ["\0", "\u{1}", "\u{1B}", "\u{7F}", "\u{9F}", "\u{FEFF}", "\u{FFFE}"]) func forbidden(character: String)
    throws
  {
    let number = try #require(character.unicodeScalars.first?.value)
    let name = String(number, radix: 16, uppercase: true)
    for text in ["a: 1\r\n# é\(character)", "a: 1\r\n'é\(character)'", "a: 1\r\n  \(character)"] {
      let failure = failure(of: text)
      #expect(failure?.message == "YAML allows no character U+\(name) here")
      #expect(failure?.position.line == 2)
      #expect(failure?.position.column == (text.contains("#") ? 4 : 3))
    }
  }

  @Test("A second document is refused where it begins") func secondDocument() {
    #expect(
      failure(of: "a: 1\n---\nb: 2\n").map { "\($0.position.line): \($0.message)" }
        == "2: not YAML: expected a single document, found another one")
  }

  @Test("An alias of nothing, of what comes later, or of itself is refused") func undefinedAliases() {
    for text in ["a: *x", "a: *x\nb: &x 1", "a: &x [*x]", "&x {a: *x}", "&x {*x : a}"] {
      #expect(failure(of: text)?.message == "not YAML: found undefined alias", "\(text)")
    }
  }

  @Test("Nothing of a text gets into words about it") func discretion() {
    for text in [
      "password: hunter2: x", "password: \"hunter2", "password: 'hunter2\n", "[hunter2", "password: *hunter2",
      "password: @hunter2", "password: !hunter2!x y", "a: \"\\hunter2\"", "%hunter2\n--- x",
      "password: hunter2\n\tx: y", "hunter2\n---\nhunter2",
    ] {
      let failure = failure(of: text)
      #expect(failure != nil, "\(text)")
      #expect(failure.map { "\($0)".contains("hunter") } == false, "\(text)")
    }
  }
}

/// Small texts that stand for much.
struct BoundTests {
  private static let tooDeep = "nested more than 64 levels deep"
  private static let tooMany = "more than 100000 values, those that aliases repeat among them"

  @Test(
    "Nesting without end stops at the bound, in every form",
    arguments: ["[", "{a: ", "{? ", "- ", "? ", "[{a: ", "&a [", "!t [", "!!seq ["]) func deep(opening: String)
  {
    let text = String(repeating: opening, count: 10_000)
    #expect(failure(of: text)?.message == Self.tooDeep)
  }

  @Test("The last level inside the bound is read, the next one is not") func deepest() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(failure(of: nested(64)) == nil)
    #expect(failure(of: nested(65))?.message == Self.tooDeep)
    #expect(failure(of: nested(65))?.position == TextPosition(line: 1, column: 65))
  }

  @Test("Levels behind aliases count, so that no chain of them is deeper than the stack") func deepByAliases() {
    func chain(_ links: Int) -> String { "- &a0 x\n" + (1...links).map { "- &a\($0) [*a\($0 - 1)]\n" }.joined() }
    // The list around, the links, the scalar.
    #expect(failure(of: chain(62)) == nil)
    #expect(failure(of: chain(63))?.message == Self.tooDeep)
    #expect(failure(of: chain(20_000))?.message == Self.tooDeep)
  }

  @Test("Aliases of aliases are shared, not copied") func billionLaughs() throws {
    var text = "- &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
    for level in 1..<50 {
      let alias = "*a\(level - 1)"
      text += "- &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ","))]\n"
    }
    var node = try #require(try YAMLNode.read(text)?.nodes?.last)
    var levels = 0
    while let nodes = node.nodes {
      #expect(nodes.count == 10)
      node = nodes[9]
      levels += 1
    }
    #expect(levels == 50)
    #expect(node.scalar?.text == "lol")
  }

  @Test("A long list that is named again and again counts each time") func repeatedList() {
    func text(_ aliases: Int) -> String {
      let list = Array(repeating: "x", count: 900).joined(separator: ",")
      return "- &a [\(list)]\n" + String(repeating: "- *a\n", count: aliases)
    }
    #expect(failure(of: text(100)) == nil)
    #expect(failure(of: text(120))?.message == Self.tooMany)
  }

  @Test("Nodes without end stop at the bound", arguments: ["[1,1,", "{a,b,"]) func manyOpen(opening: String) {
    let body = String(repeating: "1,", count: 100_000)
    #expect(failure(of: opening + body)?.message == Self.tooMany)
  }

  @Test("What is wrong before the bound is said, however much follows") func wrongAtOnce() {
    let text = "[," + String(repeating: "1,", count: 100_000)
    #expect(
      failure(of: text)?.message
        == "not YAML: while parsing a flow node that starts on line 1, did not find expected node " + "content")
  }

  @Test("The last node inside the bound is read, the next one is not") func many() {
    let body = String(repeating: "1,", count: 100_000)
    #expect(failure(of: "[" + body + "]")?.message == Self.tooMany)
    #expect(failure(of: "[" + body.dropLast(4) + "]") == nil)
  }
}

/// Why the text can't be read; nil when it can.
func failure(of text: String) -> YAMLFailure? {
  do throws(YAMLFailure) {
    _ = try YAMLNode.read(text)
    return nil
  } catch { return error }
}
