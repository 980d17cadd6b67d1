// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value that a test can compare with a literal.
enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Int64)
  case fraction(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  /// `nil` for what is no JSON.
  init?(_ text: String) {
    guard let value = try? JSONDecoder().decode(JSON.self, from: Data(text.utf8)) else {
      return nil
    }
    self = value
  }

  subscript(_ key: String) -> JSON? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
  var list: [JSON] { if case .list(let list) = self { list } else { [] } }
  var keys: Set<String> {
    if case .object(let fields) = self { Set(fields.keys) } else { [] }
  }
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

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int64) { self = .number(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  init(arrayLiteral elements: JSON...) { self = .list(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { $1 })
  }
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
