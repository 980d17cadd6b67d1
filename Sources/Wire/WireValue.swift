// SPDX-License-Identifier: Apache-2.0

// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Home
import ThreadDataset
import ThreadkeeperSupport

/// What can stand in a field.
public protocol WireValue {
  func write(to json: inout JSONWriter)

  /// What all values of the type are limited to, unless a field says more.
  static var form: WireForm { get }

  /// Members of the type's JSON schema, but for its description: `"type": "integer", "minimum": 1`.
  static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String
}

/// A value that is also read, from bytes of somebody who is not trusted.
public protocol WireReadable: WireValue {
  /// - Returns: nil for what no value of the type is written as, and for what `form` does not allow.
  static func read(_ member: JSONMember, _ form: WireForm) -> Self?
}

extension WireValue {
  public static var form: WireForm { "" }

  /// Of a text.
  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "string""# + form.bounds("minLength", "maxLength")
      + (form.pattern.map { #", "pattern": "\#($0)""# } ?? "")
  }
}

extension String: WireReadable {
  @inlinable
  public func write(to json: inout JSONWriter) { json.text(self) }

  public static func read(_ member: JSONMember, _ form: WireForm) -> String? {
    guard case .string(let string) = member.value, let text = string.text,
      form.allows(UInt64(text.unicodeScalars.count))
    else { return nil }
    return text
  }
}

extension Bool: WireReadable {
  @inlinable
  public func write(to json: inout JSONWriter) { json.raw(self ? "true" : "false") }

  public static func read(_ member: JSONMember, _ form: WireForm) -> Bool? {
    if case .bool(let isTrue) = member.value { isTrue } else { nil }
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "boolean""#
  }
}

extension WireReadable where Self: FixedWidthInteger {
  @inlinable
  public func write(to json: inout JSONWriter) {
    if self < 0 { json.byte(0x2D) }
    json.number(UInt64(magnitude))
  }

  public static func read(_ member: JSONMember, _ form: WireForm) -> Self? {
    guard case .number(let number) = member.value, let unsigned = number.unsigned,
      form.allows(unsigned)
    else { return nil }
    return Self(exactly: unsigned)
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "integer", "minimum": \#(form.least)"#
      + (form.most == .max ? "" : #", "maximum": \#(form.most)"#)
  }
}

extension Int: WireReadable {}
extension Int64: WireReadable {}
extension UInt8: WireReadable {}
extension UInt16: WireReadable {}
extension UInt32: WireReadable {
  public static var form: WireForm { WireForm("", most: 4_294_967_295) }
}
extension UInt64: WireReadable {}

extension Array: WireValue where Element: WireValue {
  public func write(to json: inout JSONWriter) {
    json.open("[")
    for element in self {
      json.separate()
      element.write(to: &json)
    }
    json.close("]")
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "array""# + form.bounds("minItems", "maxItems")
      + #", "items": \#(describer.schema(of: Element.self, Element.form))"#
  }
}

/// An object whose names are not fixed, in the order of their bytes.
extension Dictionary: WireValue where Key == String, Value: WireValue {
  public func write(to json: inout JSONWriter) {
    json.open()
    for (name, value) in sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      json.separate()
      json.text(name)
      json.byte(0x3A)
      value.write(to: &json)
    }
    json.close()
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "object""# + form.bounds("minProperties", "maxProperties")
      + (form.pattern.map { #", "propertyNames": {"pattern": "\#($0)"}"# } ?? "")
      + #", "additionalProperties": \#(describer.schema(of: Value.self, Value.form))"#
  }
}

extension ExactName: WireValue {
  public func write(to json: inout JSONWriter) { json.text(text) }

  public static var form: WireForm { WireForm("", least: 1, most: 256) }
}

/// 8 bytes as 16 hexadecimal digits in lower case.
public struct WireHex: WireValue {
  public let number: UInt64

  @inlinable
  public init(_ number: UInt64) { self.number = number }

  @inlinable
  public func write(to json: inout JSONWriter) {
    json.byte(0x22)
    json.hex(number)
    json.byte(0x22)
  }

  public static var form: WireForm { WireForm("", pattern: "^[0-9a-f]{16}$") }
}

extension ExtendedPANID: WireReadable {
  public func write(to json: inout JSONWriter) { WireHex(number).write(to: &json) }

  public static func read(_ member: JSONMember, _ form: WireForm) -> ExtendedPANID? {
    if case .string(let string) = member.value {
      string.text.flatMap { Self(hex: $0) }
    } else {
      nil
    }
  }

  public static var form: WireForm {
    WireForm(
      name: "ext_pan_id", "Extended PAN ID: 16 digits in lower case.", pattern: "^[0-9a-f]{16}$")
  }
}

extension BorderAgentID: WireReadable {
  public func write(to json: inout JSONWriter) {
    json.byte(0x22)
    json.hex(self)
    json.byte(0x22)
  }

  public static func read(_ member: JSONMember, _ form: WireForm) -> BorderAgentID? {
    if case .string(let string) = member.value {
      string.text.flatMap { Self(hex: $0) }
    } else {
      nil
    }
  }

  public static var form: WireForm {
    WireForm(
      name: "border_agent_id", "Which border router: 16 or 32 digits in lower case.",
      pattern: "^([0-9a-f]{16}|[0-9a-f]{32})$")
  }
}

extension JSONWriter {
  /// 16 or 32 digits, without quotes.
  public mutating func hex(_ agent: BorderAgentID) {
    let (high, low) = agent.numbers
    hex(high)
    if low != 0 { hex(low) }
  }
}

/// The version of a message's form, which is 1.
public struct WireVersion: WireValue {
  @inlinable
  public init() {}

  @inlinable
  public func write(to json: inout JSONWriter) { json.byte(0x31) }

  public static var form: WireForm { WireForm(name: "version", "Of the form of this message.") }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""const": 1"#
  }
}

/// A value whose field is always there: `null` stands for none.
public struct WireNull<Value: WireValue>: WireValue {
  public let value: Value?

  @inlinable
  public init(_ value: Value?) { self.value = value }

  @inlinable
  public func write(to json: inout JSONWriter) {
    if let value { value.write(to: &json) } else { json.raw("null") }
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""anyOf": [\#(describer.schema(of: Value.self, Value.form)), {"type": "null"}]"#
  }
}
