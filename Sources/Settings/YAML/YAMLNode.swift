import CLibYAML

/// A part of a YAML document, with the place where it begins.
///
/// An alias is the node that it names, with that node's place. The content is shared, not copied,
/// so a few lines can stand for more nodes than fit into any memory: walk as deep as a known form
/// goes, never through all there is. For that reason nodes have no `==` and no hash.
package struct YAMLNode: Sendable {
  package enum Content: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    /// In the order of the text. A key may come twice: who reads the mapping can say so with both
    /// places.
    case mapping([(key: YAMLNode, value: YAMLNode)])
  }

  package let content: Content
  package let position: TextPosition
}

extension YAMLNode {
  /// Reads a text with one YAML 1.1 document.
  ///
  /// - Parameter text: may begin with a byte order mark. Its length is the caller's to bound.
  /// - Returns: the root; nil when there is nothing but white space and comments.
  /// - Throws: `YAMLFailure` for what is not YAML, a second document, nesting past 64 levels, more
  ///   than 100,000 nodes.
  package static func read(_ text: String) throws(YAMLFailure) -> YAMLNode? {
    var text = text
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    if let (position, scalar) = PositionedScalars(text).first(where: { !isAllowed($0.scalar) }) {
      throw .forbidden(scalar, at: position)
    }
    var composer = try YAMLComposer(text)
    return try composer.document()
  }

  /// Characters that YAML 1.1 (section 5.1) allows in a stream.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD: true
    default: scalar.value >= 0x10000
    }
  }
}

/// Text in a YAML document, before anybody has asked what type it has.
///
/// No type is guessed: `no` and `012` are what they look like. A reader that knows what belongs
/// there decides, by the form and the tag.
package struct YAMLScalar: Sendable {
  package let text: String
  /// Without the prefix of YAML's own tags: `str` for `!!str`. Nil for none, and for a bare `!`.
  package let coreTag: String?
  /// A tag that YAML itself does not know, such as `!secret`.
  package let ownTag: String?
  /// In quotes, or a block with `|` or `>`: never a number, never nothing.
  package let isQuoted: Bool

  private static let corePrefix = "tag:yaml.org,2002:"

  init(text: String, tag: String?, isQuoted: Bool) {
    self.text = text
    self.isQuoted = isQuoted
    let tag = tag == "!" ? nil : tag
    let isCore = tag?.hasPrefix(Self.corePrefix) == true
    coreTag = isCore ? tag.map { String($0.dropFirst(Self.corePrefix.count)) } : nil
    ownTag = isCore ? nil : tag
  }

  /// Without quotes and not declared to be text, so that its form says its type.
  package var isPlain: Bool { !isQuoted && coreTag != "str" }

  /// A key with nothing after it, or one of YAML's words for that.
  package var isNull: Bool { isPlain && ownTag == nil && ["", "~", "null", "Null", "NULL"].contains(text) }
}

/// The text may be a password.
extension YAMLScalar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<\(text.utf8.count) bytes>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// Line and column in a text, from 1; columns are Unicode scalars.
package struct TextPosition: Hashable, Sendable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// libyaml counts from 0.
  init(_ mark: yaml_mark_t) { self.init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1) }
}

/// Why a text could not be read as YAML. Holds nothing of the text but single control characters:
/// what stands near the place may be a password.
package struct YAMLFailure: Error, Equatable {
  /// For a person; on one line.
  package let message: String
  package let position: TextPosition

  static func syntax(_ problem: String, at position: TextPosition) -> YAMLFailure {
    YAMLFailure(message: "not YAML: \(problem)", position: position)
  }

  static func limit(_ problem: String, at position: TextPosition) -> YAMLFailure {
    YAMLFailure(message: problem, position: position)
  }

  /// A character outside of YAML 1.1, section 5.1. libyaml's own message would not say which.
  static func forbidden(_ scalar: Unicode.Scalar, at position: TextPosition) -> YAMLFailure {
    let number = String(scalar.value, radix: 16, uppercase: true)
    return YAMLFailure(message: "YAML allows no character U+\(number) here", position: position)
  }

  /// What libyaml says. Its words are fixed ones, without a part of the text.
  init(_ parser: yaml_parser_t, of text: String) {
    guard parser.error != YAML_MEMORY_ERROR, let words = parser.problem else {
      self = .outOfMemory
      return
    }
    var problem = String(cString: words)
    let position = TextPosition(parser.error == YAML_READER_ERROR ? parser.mark : parser.problem_mark)
    if let context = parser.context {
      let line = TextPosition(parser.context_mark).line
      problem = "\(String(cString: context)) that starts on line \(line), \(problem)"
    }
    let found = PositionedScalars(text).first { $0.position == position }
    let hint = found?.scalar == "\t" ? " (a tab; YAML is indented with spaces)" : ""
    self = .syntax(problem + hint, at: position)
  }

  static var outOfMemory: YAMLFailure {
    YAMLFailure(message: "not enough memory to read it", position: .init(line: 1, column: 1))
  }

  private init(message: String, position: TextPosition) {
    self.message = message
    self.position = position
  }
}
