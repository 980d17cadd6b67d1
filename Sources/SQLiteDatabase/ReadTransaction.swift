// SPDX-License-Identifier: Apache-2.0

/// A consistent snapshot. Not to be kept: after the body of `read` or `write` it only throws.
package class ReadTransaction {
  let connection: SQLiteConnection
  private var isOpen = true

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func finish() { isOpen = false }

  func checkOpen() throws(SQLiteError) {
    guard isOpen else { throw .misuse("the transaction is over") }
  }

  // The functions that are generic over what a row becomes are inlinable, so that a caller pays for
  // no boxes: they stand on `forEach`, which is not generic.

  /// The first row, or nil.
  @inlinable
  package func first<T>(
    _ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T
  ) throws -> T? {
    try first(sql, bound: values, row: row)
  }

  /// Every row, in the statement's order.
  @inlinable
  package func all<T>(
    _ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T
  ) throws -> [T] {
    var results: [T] = []
    try forEach(sql, bound: values) {
      results.append(try row($0))
      return true
    }
    return results
  }

  /// As `first`, with values that are already an array.
  @inlinable
  package func first<T>(
    _ sql: StaticString, bound values: [SQLiteValue], row: (SQLiteRow) throws -> T
  ) throws -> T? {
    var result: T?
    try forEach(sql, bound: values) {
      result = try row($0)
      return false
    }
    return result
  }

  /// Row by row, until `row` returns false.
  package func forEach(
    _ sql: StaticString, bound values: [SQLiteValue], row: (SQLiteRow) throws -> Bool
  ) throws {
    try checkOpen()
    try connection.withStatement(sql, values) { statement in
      while try connection.step(statement, sql) {
        guard try row(SQLiteRow(statement: statement)) else { return }
      }
    }
  }
}
