// SPDX-License-Identifier: Apache-2.0

/// Writes values as JSON that have no message in `Wire` yet: the keys of an object in the order of their bytes, so that
/// equal values are equal bytes. The bytes are those of `JSONBytes`.
///
/// Foundation's encoder writes the same with `sortedKeys` and `withoutEscapingSlashes`, and takes several times as long.
package enum JSONWriter {
  /// - Throws: `EncodingError` for fractions, which nothing that is published has, and what the value throws.
  package static func bytes(of value: some Encodable) throws -> [UInt8] {
    let text = JSONText()
    let part = try text.part(of: value)
    var json = JSONBytes(capacity: 2 * text.json.bytes.count + 128)
    part.write(text, to: &json)
    return json.bytes
  }
}

/// The bytes of all texts and numbers of a document, one after another, before they have their places.
final class JSONText {
  private(set) var json = JSONBytes(capacity: 512)

  func part<T: Encodable>(of value: T) throws -> JSONPart {
    let node = JSONNode(self)
    try value.encode(to: JSONNodeEncoder(node: node))
    return node.part
  }

  func text(_ text: String) -> JSONPart { scalar { $0.text(text) } }
  func number(_ number: some FixedWidthInteger) -> JSONPart { literal(number.description) }
  func literal(_ text: String) -> JSONPart { scalar { $0.escaped(text) } }

  private func scalar(_ write: (inout JSONBytes) -> Void) -> JSONPart {
    let start = json.bytes.count
    write(&json)
    return .scalar(start..<json.bytes.count)
  }
}

/// A value on its way into a document.
enum JSONPart {
  /// A text, a number or a word: its place in `JSONText`.
  case scalar(Range<Int>)
  case node(JSONNode)
  case null

  func write(_ text: JSONText, to json: inout JSONBytes) {
    switch self {
    case .scalar(let range): json.bytes.append(contentsOf: text.json.bytes[range])
    case .null: json.raw("null")
    case .node(let node): node.write(to: &json)
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

  func write(to json: inout JSONBytes) {
    switch form {
    case .none: json.raw("{}")
    case .single(let part): part.write(text, to: &json)
    case .object(var members):
      members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      json.open()
      for (name, part) in members {
        json.separate()
        json.text(name)
        json.byte(0x3A)
        part.write(text, to: &json)
      }
      json.close()
    case .array(let parts):
      json.open("[")
      for part in parts {
        json.separate()
        part.write(text, to: &json)
      }
      json.close("]")
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
