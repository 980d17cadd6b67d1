import Foundation
import Settings

/// A JSON value that a test can compare with a literal.
enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Int64)
  case fraction(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  /// `nil` for what is no JSON. Not by a decoder: it throws at each value until it has found the type, and the tests'
  /// library takes note of where each error is thrown.
  init?(_ text: String) {
    guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) else {
      return nil
    }
    self.init(value)
  }

  private init(_ value: Any) {
    switch value {
    case let text as String: self = .text(text)
    case let list as [Any]: self = .list(list.map { JSON($0) })
    case let fields as [String: Any]: self = .object(fields.mapValues { JSON($0) })
    case let number as NSNumber:
      // In Objective-C's words a boolean is a character.
      if String(cString: number.objCType) == "c" {
        self = .bool(number.boolValue)
      } else {
        self = (value as? Int64).map { .number($0) } ?? .fraction(number.doubleValue)
      }
    default: self = .null
    }
  }

  subscript(_ key: String) -> JSON? { if case .object(let fields) = self { fields[key] } else { nil } }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
  var list: [JSON] { if case .list(let list) = self { list } else { [] } }
  var keys: Set<String> { if case .object(let fields) = self { Set(fields.keys) } else { [] } }
}

extension JSON: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Int64.self) {
      self = .number(number)
    } else if let fraction = try? value.decode(Double.self) {
      self = .fraction(fraction)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([JSON].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int64) { self = .number(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  init(arrayLiteral elements: JSON...) { self = .list(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) { self = .object(Dictionary(elements) { $1 }) }
}

extension JSON: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let number): "\(number)"
    case .fraction(let fraction): "\(fraction)"
    case .text(let text): "\"\(text)\""
    case .list(let list): "[\(list.map(\.description).joined(separator: ","))]"
    case .object(let fields):
      "{\(fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
    }
  }
}

extension JSON: Encodable {
  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number): try value.encode(number)
    case .fraction(let fraction): try value.encode(fraction)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let fields): try value.encode(fields)
    }
  }
}

extension JSON {
  /// What a YAML document means as JSON: plain scalars are null, booleans and whole numbers where they look so.
  init(_ node: YAMLNode) {
    switch node.content {
    case .scalar(let scalar):
      if scalar.isNull {
        self = .null
      } else if scalar.isPlain, scalar.text == "true" || scalar.text == "false" {
        self = .bool(scalar.text == "true")
      } else if scalar.isPlain, let number = Int64(scalar.text) {
        self = .number(number)
      } else {
        self = .text(scalar.text)
      }
    case .sequence(let nodes): self = .list(nodes.map { JSON($0) })
    case .mapping(let members):
      self = .object(Dictionary(members.map { (JSON($0.key).text ?? "", JSON($0.value)) }) { $1 })
    }
  }
}
