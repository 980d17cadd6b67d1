import ThreadkeeperSupport
import Wire

/// A value of JSON whose form is another's: the states of routers, networks and alerts, as they are
/// published. Numbers are whole.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  package subscript(_ name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }
  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}

extension JSONValue: WireReadable {
  package static var varlink: String { "object" }

  package func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.raw("null")
    case .bool(let value): value.write(to: &json)
    case .integer(let value): value.write(to: &json)
    case .text(let value): value.write(to: &json)
    case .array(let values): values.write(to: &json)
    case .object(let members): members.write(to: &json)
    }
  }

  package static var type: WireType { .object }

  package static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String { #""type": "object""# }

  package static func read(_ member: JSONMember, _ form: WireForm?) -> JSONValue? {
    switch member.value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .string(let string): string.text.map(JSONValue.text)
    case .number(let number):
      (number.unsigned.flatMap { Int64(exactly: $0) } ?? Int64(String(decoding: member.source, as: UTF8.self))).map(
        JSONValue.integer)
    case .nested: [JSONValue].read(member, nil).map(JSONValue.array) ?? object(member.source)
    }
  }

  fileprivate static func object(_ source: UnsafeBufferPointer<UInt8>) -> JSONValue? {
    var members: [String: JSONValue] = [:]
    for member in (try? UntrustedJSON.members(of: source, depth: WireReader.nesting)) ?? [] {
      guard let name = member.name.text, let value = read(member, nil) else { return nil }
      members[name] = value
    }
    return .object(members)
  }
}

extension WireObject {
  /// The message as it is published, for lists.
  package consuming func jsonValue() -> JSONValue { json().withUnsafeBufferPointer { JSONValue.object($0) } ?? .null }
}

// Lists of the local API are coded by their type.
extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let values = try? value.decode([JSONValue].self) {
      self = .array(values)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}
