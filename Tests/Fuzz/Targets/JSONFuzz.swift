import Foundation
import ThreadkeeperSupport

/// The JSON reader: where it and Foundation take a text, both read the same members. Foundation takes more: other
/// encodings, deeper nesting, a comma at the end of an array.
enum JSONFuzz {
  static let depth = 8

  private enum Value: Equatable {
    case string([UInt8])
    case number(UInt64)
    case bool(Bool)
    case null
    /// An object, an array, or what one of the readers cannot say exactly.
    case other
  }

  static func check(_ bytes: [UInt8]) throws {
    var members: [(name: [UInt8], value: Value)] = []
    var hasHalves = false
    let isObject: Bool
    do throws(JSONFlaw) {
      isObject = try UntrustedJSON.readMembers(of: bytes, depth: depth) { member in
        if let name = member.name.text {
          members.append((Array(name.utf8), value(of: member)))
        } else {
          hasHalves = true
        }
      }
    } catch { return try expect((0...bytes.count).contains(error.offset), "a flaw lies within the text") }
    try expect((try? UntrustedJSON.check(bytes, depth: depth + 1)) == isObject, "a larger limit changes nothing")
    guard isObject, !hasHalves, let other = foundation(bytes) else { return }
    // Of a name that comes twice, each takes another value; and to Foundation, names that Unicode counts as equal are one.
    guard Set(members.map(\.name)).count == members.count, other.count == members.count else { return }
    for (name, value) in members {
      guard let found = other.first(where: { $0.key.utf8.elementsEqual(name) }) else {
        return try expect(false, "Foundation reads the same names")
      }
      let expected = self.value(of: found.value)
      guard value != .other, expected != .other else { continue }
      try expect(value == expected, "Foundation reads the same")
    }
  }

  private static func value(of member: JSONMember) -> Value {
    switch member.value {
    case .string(let string): string.text.map { .string(Array($0.utf8)) } ?? .other
    case .number(let number): number.unsigned.map { .number($0) } ?? .other
    case .bool(let bool): .bool(bool)
    case .null: .null
    case .nested: .other
    }
  }

  private static func value(of value: FoundationJSON) -> Value {
    switch value {
    case .string(let text): .string(Array(text.utf8))
    case .number(let number): number.map { .number($0) } ?? .other
    case .bool(let bool): .bool(bool)
    case .null: .null
    case .nested: .other
    }
  }

  private static func foundation(_ bytes: [UInt8]) -> [String: FoundationJSON]? {
    try? JSONDecoder().decode([String: FoundationJSON].self, from: Data(bytes))
  }
}

/// A member's value as Foundation reads it.
private enum FoundationJSON: Decodable {
  case string(String)
  /// Where it is a whole number that `UInt64` has.
  case number(UInt64?)
  case bool(Bool)
  case null
  case nested

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if (try? value.decode(Double.self)) != nil {
      self = .number(try? value.decode(UInt64.self))
    } else {
      self = .nested
    }
  }
}
