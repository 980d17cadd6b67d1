// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import Foundation

/// The JSON reader: its ways of reading agree, and where it and Foundation take a text, both read the same. Foundation
/// takes more: other encodings, deeper nesting, a comma at the end of an array.
enum JSONFuzz {
  static let depth = 8

  static func check(_ bytes: [UInt8]) throws {
    let tree: JSONTree
    do throws(JSONFlaw) {
      tree = try UntrustedJSON.tree(of: bytes, depth: depth)
    } catch {
      try expect((0...bytes.count).contains(error.offset), "a flaw lies within the text")
      try expect(flaw(of: bytes) == error, "a text that has no tree has no members, for one reason")
      return
    }
    try expect(flaw(of: bytes) == nil, "a text with a tree has members")
    try expect(JSONPointer("").flatMap { tree[$0] } == tree, "the empty pointer is the whole")
    let deeper = try? UntrustedJSON.tree(of: bytes, depth: depth + 1)
    try expect(deeper == tree, "a larger limit changes nothing")
    guard let other = foundation(bytes) else { return }
    // Of a name that comes twice, each takes another value.
    guard colons(in: bytes) == tree.memberCount, other.memberCount == tree.memberCount else {
      return
    }
    try expect(other.agrees(with: tree), "Foundation reads the same")
  }

  private static func flaw(of bytes: [UInt8]) -> JSONFlaw? {
    do throws(JSONFlaw) {
      try UntrustedJSON.check(bytes, depth: depth)
      return nil
    } catch {
      return error
    }
  }

  private static func foundation(_ bytes: [UInt8]) -> FoundationJSON? {
    try? JSONDecoder().decode(FoundationJSON.self, from: Data(bytes))
  }

  /// Colons outside of strings: the members of all objects of a valid text.
  private static func colons(in bytes: [UInt8]) -> Int {
    var (count, isInString, isEscaped) = (0, false, false)
    for byte in bytes {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
      } else if byte == UInt8(ascii: "\"") {
        isInString = true
      } else if byte == UInt8(ascii: ":") {
        count += 1
      }
    }
    return count
  }
}

extension JSONTree {
  fileprivate var memberCount: Int {
    switch self {
    case .object(let members): members.values.reduce(members.count) { $0 + $1.memberCount }
    case .array(let elements): elements.reduce(0) { $0 + $1.memberCount }
    case .string, .number, .bool, .null: 0
    }
  }
}
