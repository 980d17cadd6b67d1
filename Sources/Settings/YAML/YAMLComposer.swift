import CLibYAML

/// Makes nodes out of events, within bounds.
struct YAMLComposer: ~Copyable {
  /// Levels of nesting, those behind aliases included: a node is read, and freed, level by level
  /// on the stack. A configuration has five.
  static let deepest = 64
  /// Nodes of one text. An alias counts as many as are written where it points to, so that a long
  /// list that is named a thousand times is refused too. Ten thousand users are ten thousand nodes.
  static let mostNodes = 100_000

  /// A node, and what an alias for it costs.
  private struct Composed {
    let node: YAMLNode
    /// Nodes that are written here; an alias is one.
    let size: Int
    /// Levels, those behind aliases included.
    let height: Int
  }

  private let events: YAMLEventStream
  private var anchored: [String: Composed] = [:]
  private var count = 0

  init(_ text: String) throws(YAMLFailure) { events = try YAMLEventStream(text) }

  /// - Returns: the root of the only document; nil when there is none.
  mutating func document() throws(YAMLFailure) -> YAMLNode? {
    _ = try events.next()  // The start of the stream.
    guard case .documentStart = try events.next().content else { return nil }
    let root = try compose(try events.next(), depth: 1).node
    _ = try events.next()  // The end of the document.
    let after = try events.next()
    guard case .streamEnd = after.content else {
      throw YAMLFailure.syntax("expected a single document, found another one", at: after.position)
    }
    return root
  }

  private mutating func compose(_ event: YAMLEvent, depth: Int) throws(YAMLFailure) -> Composed {
    try add(1, at: event)
    try check(depth, at: event)
    switch event.content {
    case .scalar(let scalar, let anchor):
      let node = YAMLNode(content: .scalar(scalar), position: event.position)
      return remember(Composed(node: node, size: 1, height: 1), as: anchor)
    case .sequenceStart(let anchor): return remember(try sequence(event, depth: depth), as: anchor)
    case .mappingStart(let anchor): return remember(try mapping(event, depth: depth), as: anchor)
    case .alias(let anchor):
      // A node that names itself is not known yet, and so there are no circles.
      guard let named = anchored[anchor] else { throw YAMLFailure.syntax("found undefined alias", at: event.position) }
      try add(named.size, at: event)
      try check(depth + named.height - 1, at: event)
      return Composed(node: named.node, size: 1, height: named.height)
    case .end, .documentStart, .streamStart, .streamEnd: throw YAMLFailure.syntax("unreadable", at: event.position)
    }
  }

  private mutating func sequence(_ start: YAMLEvent, depth: Int) throws(YAMLFailure) -> Composed {
    var nodes: [YAMLNode] = []
    var size = 1
    var height = 0
    while let event = try nextInside() {
      let composed = try compose(event, depth: depth + 1)
      nodes.append(composed.node)
      size += composed.size
      height = max(height, composed.height)
    }
    let node = YAMLNode(content: .sequence(nodes), position: start.position)
    return Composed(node: node, size: size, height: height + 1)
  }

  private mutating func mapping(_ start: YAMLEvent, depth: Int) throws(YAMLFailure) -> Composed {
    var pairs: [(key: YAMLNode, value: YAMLNode)] = []
    var size = 1
    var height = 0
    while let event = try nextInside() {
      let key = try compose(event, depth: depth + 1)
      let value = try compose(try events.next(), depth: depth + 1)
      pairs.append((key.node, value.node))
      size += key.size + value.size
      height = max(height, key.height, value.height)
    }
    let node = YAMLNode(content: .mapping(pairs), position: start.position)
    return Composed(node: node, size: size, height: height + 1)
  }

  /// Nil at the end of the sequence or mapping.
  private func nextInside() throws(YAMLFailure) -> YAMLEvent? {
    let event = try events.next()
    if case .end = event.content { return nil }
    return event
  }

  private mutating func remember(_ composed: Composed, as anchor: String?) -> Composed {
    if let anchor { anchored[anchor] = composed }
    return composed
  }

  private mutating func add(_ nodes: Int, at event: YAMLEvent) throws(YAMLFailure) {
    count += nodes
    guard count <= Self.mostNodes else {
      throw YAMLFailure.limit(
        "more than \(Self.mostNodes) values, those that aliases repeat among them", at: event.position)
    }
  }

  private func check(_ depth: Int, at event: YAMLEvent) throws(YAMLFailure) {
    guard depth <= Self.deepest else {
      throw YAMLFailure.limit("nested more than \(Self.deepest) levels deep", at: event.position)
    }
  }
}

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
    guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLFailure(parser.pointee, of: text) }
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
      case YAML_SCALAR_EVENT: .scalar(Self.scalar(event), anchor: Self.text(event.data.scalar.anchor))
      case YAML_ALIAS_EVENT: .alias(Self.text(event.data.alias.anchor) ?? "")
      case YAML_SEQUENCE_START_EVENT: .sequenceStart(anchor: Self.text(event.data.sequence_start.anchor))
      case YAML_MAPPING_START_EVENT: .mappingStart(anchor: Self.text(event.data.mapping_start.anchor))
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

  private static func text(_ bytes: UnsafePointer<UInt8>?) -> String? { bytes.map { String(cString: $0) } }
}

/// The scalars of a text, each with its place, counted as libyaml counts.
struct PositionedScalars: Sequence, IteratorProtocol {
  private var scalars: Substring.UnicodeScalarView
  private var position = TextPosition(line: 1, column: 1)

  init(_ text: String) { scalars = text[...].unicodeScalars }

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
