import CLibSQLite

/// A consistent snapshot. Not to be kept: after the body of `read` or `write` it only throws.
@usableFromInline package class ReadTransaction {
  let connection: SQLiteConnection
  private var isOpen = true

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func finish() { isOpen = false }

  func checkOpen() throws(SQLiteError) { guard isOpen else { throw .misuse("the transaction is over") } }

  /// Runs `body` if another connection, of whatever process, has committed since `body` last returned on this one.
  package func afterChange(_ body: () throws -> Void) throws {
    let version = try first("PRAGMA data_version") { $0.integer(0) }
    guard version != connection.knownVersion else { return }
    try body()
    connection.knownVersion = version
  }

  // The functions that are generic over what a row becomes are inlinable, so that a caller pays for
  // no boxes: they stand on `forEach`, which is not generic.

  /// The first row, or nil.
  @inlinable package func first<T>(_ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T) throws
    -> T?
  { try first(sql, bound: values, row: row) }

  /// Every row, in the statement's order.
  @inlinable package func all<T>(_ sql: StaticString, _ values: SQLiteValue..., row: (SQLiteRow) throws -> T) throws
    -> [T]
  {
    var results: [T] = []
    try forEach(sql, bound: values) {
      results.append(try row($0))
      return true
    }
    return results
  }

  /// As `first`, with values that are already an array.
  @inlinable package func first<T>(_ sql: StaticString, bound values: [SQLiteValue], row: (SQLiteRow) throws -> T)
    throws -> T?
  {
    var result: T?
    try forEach(sql, bound: values) {
      result = try row($0)
      return false
    }
    return result
  }

  /// Row by row, until `row` returns false.
  ///
  /// - Parameter loans: bytes of which no copy is made stay where they are until this returns.
  @usableFromInline package func forEach(
    _ sql: StaticString, bound values: [SQLiteValue] = [], lending loans: [SQLiteLoan] = [],
    row: (SQLiteRow) throws -> Bool
  ) throws {
    try checkOpen()
    try connection.withStatement(sql, values, lending: loans) { statement in
      while try connection.step(statement, sql) { guard try row(SQLiteRow(statement: statement)) else { return } }
    }
  }
}

/// The one transaction that writes now. Whatever its body throws rolls all of it back.
package final class WriteTransaction: ReadTransaction {
  private var states: [String: any TransactionState] = [:]
  private var commitHooks: [Hook] = []
  private var publications: [Hook] = []
  private var afterHooks: [Hook] = []

  private struct Hook {
    let key: String
    let body: (WriteTransaction) throws -> Void
  }

  /// Runs a statement to its end and returns the number of rows that it changed.
  @discardableResult package func execute(_ sql: StaticString, _ values: SQLiteValue...) throws -> Int {
    try execute(sql, bound: values)
  }

  /// As `execute`, with values that are already an array.
  @discardableResult package func execute(_ sql: StaticString, bound values: [SQLiteValue]) throws -> Int {
    try checkNotRolledBack(sql)
    return try connection.withStatement(sql, values) { statement in
      while try connection.step(statement, sql) {}
      // What a read-only statement leaves here is the count of an earlier one.
      return sqlite3_stmt_readonly(statement) != 0 ? 0 : Int(sqlite3_changes64(connection.handle))
    }
  }

  /// Runs a statement with values of which no copy is made, for those that run thousands of times.
  ///
  /// - Parameter values: bytes stay where they are until this returns.
  package func execute(_ sql: StaticString, lending values: [SQLiteLoan]) throws {
    try checkNotRolledBack(sql)
    try connection.withStatement(sql, lending: values) { statement in while try connection.step(statement, sql) {} }
  }

  private func checkNotRolledBack(_ sql: StaticString) throws(SQLiteError) {
    try checkOpen()
    // After some errors SQLite itself rolls back. What came then would be committed on its own.
    guard connection.isInTransaction else { throw .misuse("the transaction was rolled back", statement: "\(sql)") }
  }

  /// The row id of the last INSERT that succeeded.
  package var lastInsertedRowID: Int64 { connection.handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// Runs `body` so that, if it throws, what it did is undone and the transaction goes on.
  package func savepoint<R>(_ body: () throws -> R) throws -> R {
    try checkOpen()
    let undo = (states, commitHooks, publications, afterHooks)
    let restores = states.values.map { $0.savepoint() }
    try connection.perform("SAVEPOINT step")
    do {
      let result = try body()
      try connection.perform("RELEASE step")
      return result
    } catch {
      // After some errors SQLite itself has rolled everything back; then there is no savepoint.
      if connection.isInTransaction {
        try connection.perform("ROLLBACK TO step")
        try connection.perform("RELEASE step")
      }
      (states, commitHooks, publications, afterHooks) = undo
      for restore in restores { restore() }
      throw error
    }
  }

  /// What a component keeps for the length of this transaction; made when first asked for.
  package func state<S: TransactionState>(_ key: String, make: () throws -> S) rethrows -> S {
    if let state = states[key] as? S { return state }
    let state = try make()
    states[key] = state
    return state
  }

  /// Runs `body` once before COMMIT, however often it is registered under `key`. What it throws
  /// rolls the transaction back.
  package func beforeCommit(_ key: String, _ body: @escaping (WriteTransaction) throws -> Void) {
    guard !commitHooks.contains(where: { $0.key == key }) else { return }
    commitHooks.append(Hook(key: key, body: body))
  }

  /// Runs `body` once right after COMMIT, before anyone else can write. It must be short, and not
  /// write.
  package func onCommit(_ key: String, _ body: @escaping () -> Void) {
    guard !publications.contains(where: { $0.key == key }) else { return }
    publications.append(Hook(key: key, body: { _ in body() }))
  }

  /// Runs `body` once after COMMIT, when the writer is free again and before `write` returns.
  package func afterCommit(_ key: String, _ body: @escaping () -> Void) {
    guard !afterHooks.contains(where: { $0.key == key }) else { return }
    afterHooks.append(Hook(key: key, body: { _ in body() }))
  }

  func runCommitHooks() throws {
    var next = 0
    while next < commitHooks.count {
      try commitHooks[next].body(self)
      next += 1
    }
  }

  func runPublications() { for hook in publications { try? hook.body(self) } }

  func runAfterHooks() { for hook in afterHooks { try? hook.body(self) } }
}

/// What a component remembers during one transaction, so that a savepoint can undo it too.
package protocol TransactionState: AnyObject {
  /// Notes what is, and returns what brings it back.
  func savepoint() -> () -> Void
}

/// The row that a statement stands on; valid only inside of the closure that was given it.
///
/// Columns count from 0. Where the column holds another kind, SQLite converts: NULL reads as 0 or
/// as nothing.
@usableFromInline package struct SQLiteRow {
  let statement: OpaquePointer

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

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
  @inlinable package func withBlob<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(bytes(column))
  }

  /// Good until the row is left, or the column is asked for as another kind.
  @usableFromInline func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The order matters: asking for the blob may convert it, and then its length changes.
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  package func blobIfPresent(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}

/// A value bound to a statement. SQLite's storage classes but REAL, which no table has.
@usableFromInline package enum SQLiteValue: Equatable, Sendable {
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

/// A value that is lent to a statement.
@usableFromInline package enum SQLiteLoan {
  case null
  case integer(Int64)
  case bytes(UnsafeRawBufferPointer)
}

extension SQLiteValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The kind and the length: a value may be a secret.
  @usableFromInline package var description: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .text(let text): "text <\(text.utf8.count) bytes>"
    case .blob(let bytes): "blob <\(bytes.count) bytes>"
    }
  }
  @usableFromInline package var debugDescription: String { description }
}
