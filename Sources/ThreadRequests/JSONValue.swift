import FoundationEssentials

/// A value of JSON whose form is another's: the states of routers, networks and alerts, as they are
/// published. Numbers are whole.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// What `value` is as JSON.
  package init(_ value: some Encodable) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
  }

  package subscript(_ name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }
  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}

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
