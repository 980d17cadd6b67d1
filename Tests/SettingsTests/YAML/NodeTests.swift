import Settings
import Testing

/// What a sound text becomes.
struct NodeTests {
  @Test("Nodes come with kind, text and place, in the order of the text") func nodes() throws {
    let root = try #require(try YAMLNode.read("b: [x, 'y']\na:\n  k: é v\n"))
    #expect(root.outline == "{b: [x, 'y'], a: {k: é v}}")
    #expect(root.position == TextPosition(line: 1, column: 1))
    let pairs = try #require(root.pairs)
    #expect(pairs.map(\.key.position.line) == [1, 2])
    let list = try #require(pairs[0].value.nodes)
    #expect(list.map(\.position.column) == [5, 8])
    #expect(pairs[1].value.pairs?[0].value.position == TextPosition(line: 3, column: 6))
  }

  @Test("Without a node there is none", arguments: ["", "\n\n", "# a comment", "\u{FEFF}", "\u{FEFF}# a comment\n"])
  func empty(text: String) throws { #expect(try YAMLNode.read(text) == nil) }

  @Test("Scalars keep their text: no type is guessed") func text() throws {
    for text in ["no", "012", "1e3", "0x1F", "1_000", "2001-01-01", "true", ".inf", "a:b", "1:30"] {
      let scalar = try scalar(text)
      #expect(scalar.text == text)
      #expect(scalar.isPlain)
      #expect(!scalar.isNull)
    }
  }

  @Test("Nothing is nothing without quotes only", arguments: ["", "~", "null", "Null", "NULL"]) func null(word: String)
    throws
  {
    #expect(try scalar("k: \(word)").isNull)
    for quoted in ["'\(word)'", "\"\(word)\"", "!!str \(word)", "|\n  \(word)\n"] {
      let scalar = try scalar("k: \(quoted)")
      #expect(!scalar.isNull, "\(quoted)")
      #expect(!scalar.isPlain)
    }
    #expect(try !scalar("k: nULL").isNull)
  }

  @Test("Tags of YAML's own and of others are distinguished") func tags() throws {
    #expect(try scalar("!secret a").ownTag == "!secret")
    #expect(try scalar("!secret a").coreTag == nil)
    #expect(try scalar("!secret").text == "")
    #expect(try !scalar("!secret").isNull)
    #expect(try scalar("!!str 12").coreTag == "str")
    #expect(try scalar("!!str 12").ownTag == nil)
    #expect(try scalar("! 12").ownTag == nil)
    #expect(try scalar("! 12").isPlain)
    #expect(try scalar("!<tag:example.org,2026:x> a").ownTag == "tag:example.org,2026:x")
  }

  @Test("Escapes, folds and blocks are read, zero bytes too") func forms() throws {
    let root = try #require(try YAMLNode.read("a: \"x\\0y\\u00e9\"\nb: |\n  one\n  two\nc: >-\n  one\n  two\n"))
    #expect(root.pairs?.map(\.value.scalar?.text) == ["x\0y\u{E9}", "one\ntwo\n", "one two"])
  }

  @Test("A byte order mark is no column, and lines end as YAML says") func positions() throws {
    for end in ["\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
      let root = try #require(try YAMLNode.read("\u{FEFF}a: 1\(end)b: 2"))
      #expect(root.position == TextPosition(line: 1, column: 1))
      #expect(root.pairs?.last?.key.position == TextPosition(line: 2, column: 1))
    }
  }

  @Test("A key that comes twice is there twice, with both places") func duplicates() throws {
    let root = try #require(try YAMLNode.read("a: 1\n'a': 2\n"))
    #expect(root.outline == "{a: 1, 'a': 2}")
  }

  @Test("An alias is the node that it names, with that node's place; the last anchor counts") func aliases() throws {
    let root = try #require(try YAMLNode.read("a: &x [1]\nb: *x\nc: &x 2\nd: *x"))
    #expect(root.outline == "{a: [1], b: [1], c: 2, d: 2}")
    #expect(root.pairs?[1].value.position == TextPosition(line: 1, column: 4))
  }

  @Test("A scalar of megabytes is one scalar") func hugeScalar() throws {
    let text = String(repeating: "x", count: 4 << 20)
    #expect(try scalar("k: \(text)").text == text)
    #expect(try scalar("k: \"\(text)\"").text == text)
  }

  @Test("No dump shows a text") func dumps() throws {
    let root = try #require(try YAMLNode.read("password: hunter2"))
    var dumped = ""
    dump(root, to: &dumped)
    #expect(dumped.contains("bytes"))
    for text in [dumped, "\(root)", String(reflecting: root)] { #expect(!text.contains("hunter2")) }
  }

  /// The only scalar, or the value of the only key.
  private func scalar(_ text: String) throws -> YAMLScalar {
    let root = try #require(try YAMLNode.read(text))
    return try #require(root.scalar ?? root.pairs?.last?.value.scalar)
  }
}

extension YAMLNode {
  var scalar: YAMLScalar? { if case .scalar(let scalar) = content { scalar } else { nil } }

  var nodes: [YAMLNode]? { if case .sequence(let nodes) = content { nodes } else { nil } }

  var pairs: [(key: YAMLNode, value: YAMLNode)]? { if case .mapping(let pairs) = content { pairs } else { nil } }

  /// All of it, as YAML on one line. For small texts.
  var outline: String {
    switch content {
    case .scalar(let scalar): scalar.isQuoted ? "'\(scalar.text)'" : scalar.text
    case .sequence(let nodes): "[" + nodes.map(\.outline).joined(separator: ", ") + "]"
    case .mapping(let pairs): "{" + pairs.map { "\($0.key.outline): \($0.value.outline)" }.joined(separator: ", ") + "}"
    }
  }
}
