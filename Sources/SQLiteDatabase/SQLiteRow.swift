// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

/// The row that a statement stands on; valid only inside of the closure that was given it.
///
/// Columns count from 0. Where the column holds another kind, SQLite converts: NULL reads as 0 or
/// as nothing.
package struct SQLiteRow {
  let statement: OpaquePointer

  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  package func bool(_ column: Int32) -> Bool { integer(column) != 0 }

  /// UTF-8; what is not is repaired with U+FFFD.
  package func text(_ column: Int32) -> String {
    guard let characters = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: characters, count: count), as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8] { withBlob(column) { Array($0) } }

  /// Lends the bytes without a copy.
  @inlinable
  package func withBlob<R>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try body(bytes(column))
  }

  /// Good until the row is left, or the column is asked for as another kind.
  @usableFromInline
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The order matters: asking for the blob may convert it, and then its length changes.
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  package func integerIfPresent(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }
  package func textIfPresent(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
  package func blobIfPresent(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}

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
