// SPDX-License-Identifier: Apache-2.0

/// A JSON value as a whole. The reader limits its depth, and the payload's size its number of nodes.
package enum JSONTree: Sendable, Equatable {
  /// By the bytes of the names, escapes resolved. Of a name that comes twice, the first value that is not null counts.
  case object([[UInt8]: JSONTree])
  case array([JSONTree])
  /// Nil when it has half of a surrogate pair (RFC 8259, section 8.2).
  case string(String?)
  /// As it is written, and its value where that is a whole number from 0 to 2^64-1.
  case number(String, unsigned: UInt64?)
  case bool(Bool)
  case null

  /// The value that a pointer names; nil where there is none.
  package subscript(_ pointer: JSONPointer) -> JSONTree? {
    var value = self
    for token in pointer.tokens {
      switch value {
      case .object(let members):
        guard let member = members[token] else { return nil }
        value = member
      case .array(let elements):
        guard let index = JSONPointer.index(token), elements.indices.contains(index) else {
          return nil
        }
        value = elements[index]
      case .string, .number, .bool, .null: return nil
      }
    }
    return value
  }
}
