// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import Foundation

/// A JSON value as Foundation reads it.
indirect enum FoundationJSON: Decodable {
  case object([String: FoundationJSON])
  case array([FoundationJSON])
  case string(String)
  case number(Double, unsigned: UInt64?)
  case bool(Bool)
  case null

  init(from decoder: any Decoder) throws {
    if let members = try? [String: FoundationJSON](from: decoder) {
      self = .object(members)
    } else if let elements = try? [FoundationJSON](from: decoder) {
      self = .array(elements)
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let text = try? value.decode(String.self) {
        self = .string(text)
      } else {
        self = .number(
          try value.decode(Double.self), unsigned: try? value.decode(UInt64.self))
      }
    }
  }

  /// Names that Unicode counts as equal are one name here.
  var memberCount: Int {
    switch self {
    case .object(let members): members.values.reduce(members.count) { $0 + $1.memberCount }
    case .array(let elements): elements.reduce(0) { $0 + $1.memberCount }
    case .string, .number, .bool, .null: 0
    }
  }

  func agrees(with tree: JSONTree) -> Bool {
    switch (self, tree) {
    case (.object(let members), .object(let others)):
      return members.count == others.count
        && members.allSatisfy { name, value in
          others[Array(name.utf8)].map { value.agrees(with: $0) } ?? false
        }
    case (.array(let elements), .array(let others)):
      return elements.count == others.count
        && zip(elements, others).allSatisfy { $0.agrees(with: $1) }
    case (.string(let text), .string(let other)):
      return other.map { text.utf8.elementsEqual($0.utf8) } ?? false
    case (.number(let number, let whole), .number(let text, let other)):
      guard let value = Double(text), value == number else { return false }
      return whole == nil || other == nil || whole == other
    case (.bool(let bool), .bool(let other)): return bool == other
    case (.null, .null): return true
    default: return false
    }
  }
}
