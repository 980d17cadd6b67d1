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

  /// The type in an interface of Varlink.
  static var varlink: String { get }
}

/// A value that is also read, from bytes of somebody who is not trusted.
public protocol WireReadable: WireValue {
  static var type: WireType { get }

  /// - Parameter form: that of the field; nil: of the type.
  /// - Returns: nil for what no value of the type is written as, and for what `form` does not allow.
  static func read(_ member: JSONMember, _ form: WireForm?) -> Self?
}

extension WireReadable { @inlinable public static var type: WireType { .text } }

extension WireValue {
  public static var form: WireForm { "" }
  public static var varlink: String { "string" }

  /// Of a text.
  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "string""# + form.bounds("minLength", "maxLength")
      + (form.pattern.map { #", "pattern": "\#($0)""# } ?? "")
  }
}

extension String: WireReadable {
  @inlinable public func write(to json: inout JSONWriter) { json.text(self) }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> String? {
    guard case .string(let string) = member.value, let text = string.text else { return nil }
    guard let form else { return text }
    let bytes = UInt64(text.utf8.count)
    // Counting characters takes its time, and there are never more of them than bytes.
    guard bytes > form.most || bytes < 4 * form.least else { return text }
    return (bytes + 3) / 4 <= form.most && form.allows(UInt64(text.count)) ? text : nil
  }
}

extension Bool: WireReadable {
  @inlinable public func write(to json: inout JSONWriter) { json.raw(self ? "true" : "false") }

  public static var type: WireType { .bool }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> Bool? {
    if case .bool(let isTrue) = member.value { isTrue } else { nil }
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String { #""type": "boolean""# }

  public static var varlink: String { "bool" }
}

extension WireReadable where Self: FixedWidthInteger {
  @inlinable public func write(to json: inout JSONWriter) {
    if self < 0 { json.byte(0x2D) }
    json.number(UInt64(magnitude))
  }

  @inlinable public static var type: WireType { .number(bits: bitWidth) }

  @inlinable public static func read(_ member: JSONMember, _ form: WireForm?) -> Self? {
    guard case .number(let number) = member.value, let unsigned = number.unsigned, form?.allows(unsigned) ?? true else {
      return nil
    }
    return Self(exactly: unsigned)
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""type": "integer", "minimum": \#(form.least)"# + (form.most == .max ? "" : #", "maximum": \#(form.most)"#)
  }

  public static var varlink: String { "int" }
}

extension Int: WireReadable {}
extension Int32: WireReadable {}
extension Int64: WireReadable {}
extension UInt8: WireReadable {}
extension UInt16: WireReadable {}
extension UInt32: WireReadable { public static var form: WireForm { WireForm("", most: 4_294_967_295) } }
extension UInt64: WireReadable {}

extension Array: WireValue where Element: WireValue {
  @inlinable public func write(to json: inout JSONWriter) {
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

  public static var varlink: String { "[]\(Element.varlink)" }
}

extension Array: WireReadable where Element: WireReadable {
  public static var type: WireType { .list }

  /// - Returns: also nil where one element is none.
  public static func read(_ member: JSONMember, _ form: WireForm?) -> [Element]? {
    guard let elements = try? UntrustedJSON.elements(of: member.source, depth: WireReader.nesting),
      form?.allows(UInt64(elements.count)) ?? true
    else { return nil }
    var values: [Element] = []
    for element in elements {
      guard let value = Element.read(element, nil) else { return nil }
      values.append(value)
    }
    return values
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

  public static var varlink: String { "[string]\(Value.varlink)" }
}

extension ExactName: WireValue {
  public func write(to json: inout JSONWriter) { json.text(text) }

  public static var form: WireForm { WireForm("", least: 1, most: 256) }
}

/// 8 bytes as 16 hexadecimal digits in lower case.
public struct WireHex: WireReadable, Hashable, Sendable {
  public let number: UInt64

  @inlinable public init(_ number: UInt64) { self.number = number }

  @inlinable public func write(to json: inout JSONWriter) {
    json.byte(0x22)
    json.hex(number)
    json.byte(0x22)
  }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> WireHex? {
    guard case .string(let string) = member.value else { return nil }
    guard string.hasEscapes else {
      return string.bytes.count == 16 ? Hexadecimal.number(string.bytes, at: 0).map { WireHex($0) } : nil
    }
    guard let bytes = string.text.flatMap({ Hexadecimal.decode($0) }), bytes.count == 8 else { return nil }
    return WireHex(bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  public static var form: WireForm { WireForm("", pattern: "^[0-9a-f]{16}$") }
}

/// The TLVs of a dataset as hexadecimal digits. It is not shown: it has keys.
public struct WireDataset: WireReadable, Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func write(to json: inout JSONWriter) { json.text(Hexadecimal.encode(bytes)) }

  /// - Returns: also what is no sound dataset.
  public static func read(_ member: JSONMember, _ form: WireForm?) -> WireDataset? {
    guard case .string(let string) = member.value else { return nil }
    let bytes =
      Hexadecimal.decode(string.bytes)  // With white space around it, or in escapes.
      ?? OperationalDataset.read(member, form)?.bytes
    return bytes.map(WireDataset.init)
  }

  public static var form: WireForm { WireForm("", pattern: "^([0-9A-Fa-f]{2}){1,254}$", isSecret: true) }

  public var description: String { "\(bytes.count) bytes" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OperationalDataset: WireReadable {
  public func write(to json: inout JSONWriter) { json.text(hex) }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> OperationalDataset? {
    guard case .string(let string) = member.value, let text = string.text else { return nil }
    return try? OperationalDataset(hex: text)
  }

  public static var form: WireForm { WireDataset.form }
}

extension ExtendedPANID: WireReadable {
  public func write(to json: inout JSONWriter) { WireHex(number).write(to: &json) }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> ExtendedPANID? {
    guard let number = WireHex.read(member, nil)?.number, number != 0 else { return nil }
    return ExtendedPANID(number: number)
  }

  public static var form: WireForm {
    WireForm(name: "ext_pan_id", "Extended PAN ID: 16 digits in lower case.", pattern: "^[0-9a-f]{16}$")
  }
}

extension BorderAgentID: WireReadable {
  public func write(to json: inout JSONWriter) {
    json.byte(0x22)
    json.hex(self)
    json.byte(0x22)
  }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> BorderAgentID? {
    guard case .string(let string) = member.value else { return nil }
    if string.hasEscapes { return string.text.flatMap { Self(hex: $0) } }
    let count = string.bytes.count
    guard count == 16 || count == 32, let high = Hexadecimal.number(string.bytes, at: 0),
      let low = count == 32 ? Hexadecimal.number(string.bytes, at: 16) : 0
    else { return nil }
    let agent = BorderAgentID(high: high, low: low)
    return agent.isZero ? nil : agent
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
public struct WireVersion: WireReadable, Sendable {
  @inlinable public init() {}

  @inlinable public func write(to json: inout JSONWriter) { json.byte(0x31) }

  public static var type: WireType { .number(bits: 1) }

  /// - Returns: nil for another version, which is not guessed at.
  public static func read(_ member: JSONMember, _ form: WireForm?) -> WireVersion? {
    Int.read(member, form) == 1 ? WireVersion() : nil
  }

  public static var form: WireForm { WireForm(name: "version", "Of the form of this message.") }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String { #""const": 1"# }
}

/// An object that another declaration reads: its bytes.
public struct WireBytes: WireReadable, Equatable, Sendable {
  public static let empty = WireBytes(Array("{}".utf8))

  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public init(of object: some WireValue) {
    var json = JSONWriter()
    object.write(to: &json)
    bytes = json.bytes
  }

  public func write(to json: inout JSONWriter) { json.raw(bytes) }

  public static var type: WireType { .object }

  public static func read(_ member: JSONMember, _ form: WireForm?) -> WireBytes? {
    member.source.first == 0x7B ? WireBytes(Array(member.source)) : nil
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String { #""type": "object""# }
}

/// A value whose field is always there: `null` stands for none.
public struct WireNull<Value: WireValue>: WireValue {
  public let value: Value?

  @inlinable public init(_ value: Value?) { self.value = value }

  @inlinable public func write(to json: inout JSONWriter) {
    if let value { value.write(to: &json) } else { json.raw("null") }
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    #""anyOf": [\#(describer.schema(of: Value.self, Value.form)), {"type": "null"}]"#
  }
}
