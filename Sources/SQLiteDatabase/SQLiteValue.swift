// SPDX-License-Identifier: Apache-2.0

/// A value bound to a statement. SQLite's storage classes but REAL, which no table has.
package enum SQLiteValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  /// NULL when there is nothing.
  package static func optional(_ value: Int64?) -> Self { value.map(Self.integer) ?? .null }
  package static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }
  package static func optional(_ value: [UInt8]?) -> Self { value.map(Self.blob) ?? .null }
  /// SQLite has no truth values: 1 or 0.
  package static func bool(_ value: Bool) -> Self { .integer(value ? 1 : 0) }
}

extension SQLiteValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The kind and the length: a value may be a secret.
  package var description: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .text(let text): "text <\(text.utf8.count) bytes>"
    case .blob(let bytes): "blob <\(bytes.count) bytes>"
    }
  }
  package var debugDescription: String { description }
}
