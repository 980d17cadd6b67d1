import CLibSQLite
import Testing

/// The store's file as somebody without the keys sees it: plain SQLite, nothing of this project.
final class RawStore {
  private var handle: OpaquePointer?

  struct Refused: Error { let message: String }

  enum Value: Equatable {
    case null
    case integer(Int64)
    case text([UInt8])
    case blob([UInt8])
  }

  init(_ path: String) throws {
    try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    // Thousands of small changes: none needs to last.
    try run("PRAGMA synchronous = OFF")
  }

  deinit { close() }

  func close() {
    sqlite3_close_v2(handle)
    handle = nil
  }

  @discardableResult func run(_ sql: String, _ values: [Value] = []) throws -> [[Value]] {
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(sql)")
    defer { sqlite3_finalize(statement) }
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (position, value) in values.enumerated() {
      let place = Int32(position + 1)
      switch value {
      case .null: sqlite3_bind_null(statement, place)
      case .integer(let number): sqlite3_bind_int64(statement, place, number)
      case .text(let bytes):
        _ = bytes.withUnsafeBytes {
          sqlite3_bind_text(statement, place, $0.bindMemory(to: CChar.self).baseAddress, Int32($0.count), copied)
        }
      case .blob(let bytes):
        _ = bytes.withUnsafeBytes { sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), copied) }
      }
    }
    var rows: [[Value]] = []
    var result = sqlite3_step(statement)
    while result == SQLITE_ROW {
      rows.append((0..<sqlite3_column_count(statement)).map { Self.value(statement, $0) })
      result = sqlite3_step(statement)
    }
    guard result == SQLITE_DONE else { throw Refused(message: String(cString: sqlite3_errmsg(handle))) }
    return rows
  }

  /// The first value that a query gives, which has to be bytes.
  func blob(_ sql: String) throws -> [UInt8] {
    guard case .blob(let bytes) = try run(sql).first?.first else { throw Refused(message: sql) }
    return bytes
  }

  /// The names of the columns of a table.
  func columns(_ table: String) throws -> [String] {
    try run("SELECT name FROM pragma_table_info('\(table)')").compactMap { row in
      if case .text(let name) = row[0] { String(decoding: name, as: UTF8.self) } else { nil }
    }
  }

  private static func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
    let count = Int(sqlite3_column_bytes(statement, column))
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_NULL: return .null
    case SQLITE_TEXT:
      let start = sqlite3_column_text(statement, column)
      return .text(Array(UnsafeBufferPointer(start: start, count: count)))
    default:
      let start = sqlite3_column_blob(statement, column)
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    }
  }
}
