// SPDX-License-Identifier: Apache-2.0

/// Writes what is published as JSON (RFC 8259): the keys of an object in the order of their bytes, so that equal values
/// are equal bytes; no white space, and no escapes but those that the grammar asks for.
///
/// Foundation's encoder writes the same with `sortedKeys` and `withoutEscapingSlashes`, and takes several times as long.
package enum JSONWriter {
  /// - Throws: `EncodingError` for fractions, which nothing that is published has, and what the value throws.
  package static func bytes(of value: some Encodable) throws -> [UInt8] {
    let text = JSONText()
    let part = try text.part(of: value)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * text.bytes.count + 128)
    part.write(text, to: &bytes)
    return bytes
  }
}

/// The bytes of all texts and numbers of a document, one after another, before they have their places.
final class JSONText {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  func part<T: Encodable>(of value: T) throws -> JSONPart {
    let node = JSONNode(self)
    try value.encode(to: JSONNodeEncoder(node: node))
    return node.part
  }

  func text(_ text: String) -> JSONPart {
    let start = bytes.count
    Self.append(text, to: &bytes)
    return .scalar(start..<bytes.count)
  }

  func number(_ number: some FixedWidthInteger) -> JSONPart {
    literal(number.description)
  }

  func literal(_ text: String) -> JSONPart {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    return .scalar(start..<bytes.count)
  }

  /// A string with its quotes.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      if source.contains(where: needsEscape) {
        for byte in source { appendEscaped(byte, to: &bytes) }
      } else {
        bytes.append(contentsOf: source)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x08: bytes.append(contentsOf: "\\b".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0C: bytes.append(contentsOf: "\\f".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0..<0x20:
      bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    default: bytes.append(byte)
    }
  }
}

/// A value on its way into a document.
enum JSONPart {
  /// A text, a number or a word: its place in `JSONText`.
  case scalar(Range<Int>)
  case node(JSONNode)
  case null

  func write(_ text: JSONText, to bytes: inout [UInt8]) {
    switch self {
    case .scalar(let range): bytes.append(contentsOf: text.bytes[range])
    case .null: bytes.append(contentsOf: "null".utf8)
    case .node(let node): node.write(to: &bytes)
    }
  }
}

/// What one value has encoded: an object, an array, or one scalar.
final class JSONNode {
  private enum Form {
    /// Nothing: a value that encodes nothing is an empty object, as Foundation has it.
    case none
    case single(JSONPart)
    case object([(name: String, part: JSONPart)])
    case array([JSONPart])
  }

  let text: JSONText
  private var form = Form.none

  init(_ text: JSONText) { self.text = text }

  /// Itself, or the scalar that it is.
  var part: JSONPart {
    if case .single(let part) = form { part } else { .node(self) }
  }

  var count: Int {
    if case .array(let parts) = form { parts.count } else { 0 }
  }

  func set(_ part: JSONPart) { form = .single(part) }

  func beginObject() {
    if case .object = form { return }
    var members: [(name: String, part: JSONPart)] = []
    members.reserveCapacity(24)
    form = .object(members)
  }

  func beginArray() {
    if case .array = form { return }
    form = .array([])
  }

  func add(_ part: JSONPart, as name: String) {
    guard case .object(var members) = form else { return }
    form = .none
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].part = part
    } else {
      members.append((name, part))
    }
    form = .object(members)
  }

  func add(_ part: JSONPart) {
    guard case .array(var parts) = form else { return }
    form = .none
    parts.append(part)
    form = .array(parts)
  }

  func write(to bytes: inout [UInt8]) {
    switch form {
    case .none: bytes.append(contentsOf: "{}".utf8)
    case .single(let part): part.write(text, to: &bytes)
    case .object(var members):
      members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      var separator = UInt8(ascii: "{")
      for (name, part) in members {
        bytes.append(separator)
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        part.write(text, to: &bytes)
        separator = UInt8(ascii: ",")
      }
      if members.isEmpty { bytes.append(separator) }
      bytes.append(UInt8(ascii: "}"))
    case .array(let parts):
      var separator = UInt8(ascii: "[")
      for part in parts {
        bytes.append(separator)
        part.write(text, to: &bytes)
        separator = UInt8(ascii: ",")
      }
      if parts.isEmpty { bytes.append(separator) }
      bytes.append(UInt8(ascii: "]"))
    }
  }
}

/// What a value encodes itself to. The functions for numbers are generic, so that one of each stands for all widths.
struct JSONNodeEncoder: Encoder {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.beginObject()
    return KeyedEncodingContainer(JSONMembers(node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.beginArray()
    return JSONElements(node: node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingle(node: node) }

  static func refuse(_ fraction: some BinaryFloatingPoint) -> EncodingError {
    .invalidValue(
      fraction, .init(codingPath: [], debugDescription: "nothing that is published has fractions"))
  }
}

private struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { node.add(.null, as: key.stringValue) }

  func encode(_ value: Bool, forKey key: Key) {
    node.add(node.text.literal(value ? "true" : "false"), as: key.stringValue)
  }

  func encode(_ value: String, forKey key: Key) {
    node.add(node.text.text(value), as: key.stringValue)
  }

  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number, forKey key: Key) {
    node.add(node.text.number(value), as: key.stringValue)
  }

  func encode<Fraction: BinaryFloatingPoint & Encodable>(
    _ value: Fraction, forKey key: Key
  ) throws { throw JSONNodeEncoder.refuse(value) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    node.add(try node.text.part(of: value), as: key.stringValue)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { nested(key.stringValue).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key.stringValue).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { nested("super") }
  func superEncoder(forKey key: Key) -> any Encoder { nested(key.stringValue) }

  private func nested(_ name: String) -> JSONNodeEncoder {
    let inner = JSONNode(node.text)
    node.add(.node(inner), as: name)
    return JSONNodeEncoder(node: inner)
  }
}

private struct JSONElements: UnkeyedEncodingContainer {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }
  var count: Int { node.count }

  func encodeNil() { node.add(.null) }
  func encode(_ value: Bool) { node.add(node.text.literal(value ? "true" : "false")) }
  func encode(_ value: String) { node.add(node.text.text(value)) }

  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) {
    node.add(node.text.number(value))
  }

  func encode<Fraction: BinaryFloatingPoint & Encodable>(_ value: Fraction) throws {
    throw JSONNodeEncoder.refuse(value)
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    node.add(try node.text.part(of: value))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { nested().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
  func superEncoder() -> any Encoder { nested() }

  private func nested() -> JSONNodeEncoder {
    let inner = JSONNode(node.text)
    node.add(.node(inner))
    return JSONNodeEncoder(node: inner)
  }
}

private struct JSONSingle: SingleValueEncodingContainer {
  let node: JSONNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { node.set(.null) }
  func encode(_ value: Bool) { node.set(node.text.literal(value ? "true" : "false")) }
  func encode(_ value: String) { node.set(node.text.text(value)) }

  func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) {
    node.set(node.text.number(value))
  }

  func encode<Fraction: BinaryFloatingPoint & Encodable>(_ value: Fraction) throws {
    throw JSONNodeEncoder.refuse(value)
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    node.set(try node.text.part(of: value))
  }
}
