// SPDX-License-Identifier: Apache-2.0

import CLibYAML

/// libyaml's parser over one text.
struct YAMLEventStream: ~Copyable {
  private let text: String
  /// The parser keeps pointers to itself and into the text, so neither may move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter text: without a byte order mark, which libyaml would count as a column.
  init(_ text: String) throws(YAMLFailure) {
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      throw .outOfMemory
    }
    self.text = text
    self.parser = parser
    bytes = .allocate(capacity: text.utf8.count)
    _ = bytes.initialize(fromContentsOf: text.utf8)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    bytes.deallocate()
  }

  func next() throws(YAMLFailure) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else {
      throw YAMLFailure(parser.pointee, of: text)
    }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(event)
  }
}

/// One step of libyaml through a text, in Swift's own memory.
struct YAMLEvent {
  enum Content {
    case scalar(YAMLScalar, anchor: String?)
    case alias(String)
    case sequenceStart(anchor: String?)
    case mappingStart(anchor: String?)
    /// The end of a sequence, a mapping or a document.
    case end
    case documentStart
    case streamStart
    case streamEnd
  }

  let content: Content
  let position: TextPosition

  init(_ event: yaml_event_t) {
    position = TextPosition(event.start_mark)
    content =
      switch event.type {
      case YAML_SCALAR_EVENT:
        .scalar(Self.scalar(event), anchor: Self.text(event.data.scalar.anchor))
      case YAML_ALIAS_EVENT: .alias(Self.text(event.data.alias.anchor) ?? "")
      case YAML_SEQUENCE_START_EVENT:
        .sequenceStart(anchor: Self.text(event.data.sequence_start.anchor))
      case YAML_MAPPING_START_EVENT:
        .mappingStart(anchor: Self.text(event.data.mapping_start.anchor))
      case YAML_DOCUMENT_START_EVENT: .documentStart
      case YAML_STREAM_START_EVENT: .streamStart
      case YAML_STREAM_END_EVENT, YAML_NO_EVENT: .streamEnd
      default: .end
      }
  }

  private static func scalar(_ event: yaml_event_t) -> YAMLScalar {
    let scalar = event.data.scalar
    // By its length: `"a\0b"` has a zero byte inside.
    let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    return YAMLScalar(
      text: String(decoding: bytes, as: UTF8.self), tag: text(scalar.tag),
      isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
  }

  private static func text(_ bytes: UnsafePointer<UInt8>?) -> String? {
    bytes.map { String(cString: $0) }
  }
}

/// The scalars of a text, each with its place, counted as libyaml counts.
struct PositionedScalars: Sequence, IteratorProtocol {
  private var scalars: Substring.UnicodeScalarView
  private var position = TextPosition(line: 1, column: 1)

  init(_ text: String) {
    scalars = text[...].unicodeScalars
  }

  mutating func next() -> (position: TextPosition, scalar: Unicode.Scalar)? {
    guard let scalar = scalars.popFirst() else { return nil }
    defer {
      position.column += 1
      if endsLine(scalar) { position = TextPosition(line: position.line + 1, column: 1) }
    }
    return (position, scalar)
  }

  /// The line ends of YAML 1.1, section 5.4.
  private func endsLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\r": scalars.first != "\n"
    case "\n", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}
