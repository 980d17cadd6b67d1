// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

extension SQLiteConnection {
  /// SQLITE_TRANSIENT: SQLite copies what it is given.
  private static var copied: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  func bind(
    _ values: [SQLiteValue], to statement: OpaquePointer, _ sql: StaticString
  ) throws(SQLiteError) {
    guard Int(sqlite3_bind_parameter_count(statement)) == values.count else {
      throw .misuse("\(values.count) values for another number of places", statement: "\(sql)")
    }
    var position: Int32 = 0
    for value in values {
      position += 1
      let result = bind(value, to: statement, at: position)
      guard result == SQLITE_OK else {
        throw SQLiteError(result, on: handle, statement: "\(sql)")
      }
    }
  }

  private func bind(
    _ value: SQLiteValue, to statement: OpaquePointer, at position: Int32
  ) -> Int32 {
    switch value {
    case .null:
      return sqlite3_bind_null(statement, position)
    case .integer(let number):
      return sqlite3_bind_int64(statement, position, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          // A nil pointer would bind NULL.
          guard let start = characters.baseAddress else {
            return sqlite3_bind_text(statement, position, "", 0, Self.copied)
          }
          return sqlite3_bind_text64(
            statement, position, start, UInt64(characters.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let bytes):
      return bytes.withUnsafeBytes { memory in
        guard let start = memory.baseAddress, memory.count > 0 else {
          return sqlite3_bind_zeroblob(statement, position, 0)
        }
        return sqlite3_bind_blob64(
          statement, position, start, UInt64(memory.count), Self.copied)
      }
    }
  }
}
