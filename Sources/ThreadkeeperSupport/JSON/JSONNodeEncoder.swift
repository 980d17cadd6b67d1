// SPDX-License-Identifier: Apache-2.0

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
