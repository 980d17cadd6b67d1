import CLibSQLite
import Glibc

/// One open handle and its prepared statements.
// Unchecked because SQLite's handle is not thread-safe in the mode used here: a connection has one
// user at a time, and is handed on under a lock (the writer's, or the pool's).
final class SQLiteConnection: @unchecked Sendable {
  private(set) var handle: OpaquePointer?
  private let busyTimeout: Int32
  /// Of a connection that writes: what it has open.
  var files: OpenFiles?
  /// The same: pages in the write-ahead log after its last commit.
  fileprivate(set) var logPages = 0
  /// See `ReadTransaction.afterChange`.
  var knownVersion: Int64?
  /// By the address of the SQL: a StaticString lies at one place for the life of the process.
  private var statements: [UnsafePointer<UInt8>: PreparedStatement] = [:]
  /// The one that was used last: of many rows it is used again and again.
  private var last: (sql: UnsafePointer<UInt8>, statement: PreparedStatement)?

  init(path: String, flags: Int32, options: SQLiteDatabase.Options) throws(SQLiteError) {
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, options.vfs)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError(result, on: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    busyTimeout = options.busyTimeout
    sqlite3_extended_result_codes(opened, 1)
    sqlite3_busy_timeout(opened, options.busyTimeout)
  }

  deinit { close() }

  func close() {
    (statements, last) = ([:], nil)
    // v2 waits for nothing: it is what is left if a statement were still out.
    if let handle { sqlite3_close_v2(handle) }
    handle = nil
  }

  /// Whether a transaction is open on this connection.
  var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  /// Runs SQL of this program that takes no values, for pragmas and the like.
  func run(_ sql: String) throws(SQLiteError) {
    guard let handle else { throw .misuse("the database is closed", statement: sql) }
    // Only an error of this call says why it failed.
    errno = 0
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, statement: sql) }
  }

  /// The first column of the first row that a pragma answers with.
  func text(_ sql: StaticString) throws(SQLiteError) -> String? {
    guard let handle else { throw .misuse("the database is closed", statement: "\(sql)") }
    let statement = try PreparedStatement(sql, on: handle)
    guard try step(statement.pointer, sql), let text = sqlite3_column_text(statement.pointer, 0) else { return nil }
    return String(cString: text)
  }

  /// Runs a statement that is used again and again.
  func perform(_ sql: StaticString) throws { try withStatement(sql, []) { _ = try step($0, sql) } }

  /// Runs `body` so that a lock of another connection is an answer and nothing to wait for.
  func withoutWaiting<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
    guard let handle else { throw SQLiteError.misuse("the database is closed") }
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, busyTimeout) }
    return try body(handle)
  }

  /// Lends a prepared statement with its values bound, and puts it back afterwards.
  func withStatement<R>(
    _ sql: StaticString, _ values: [SQLiteValue] = [], lending loans: [SQLiteLoan] = [],
    _ body: (OpaquePointer) throws -> R
  ) throws -> R {
    let prepared = try take(sql)
    let statement = prepared.pointer
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
      prepared.isInUse = false
    }
    try bind(values, loans, to: statement, sql)
    return try body(statement)
  }

  /// One step: true when there is a row.
  func step(_ statement: OpaquePointer, _ sql: StaticString) throws(SQLiteError) -> Bool {
    // Only an error of this call says why it failed.
    errno = 0
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteError(code, on: handle, statement: "\(sql)")
    }
  }

  /// A statement that nobody uses now. Inside of its own rows it is prepared a second time.
  private func take(_ sql: StaticString) throws(SQLiteError) -> PreparedStatement {
    guard let handle else { throw .misuse("the database is closed", statement: "\(sql)") }
    guard sql.hasPointerRepresentation else { throw .misuse("not a statement") }
    let cached = last?.sql == sql.utf8Start ? last?.statement : statements[sql.utf8Start]
    if let cached, !cached.isInUse {
      cached.isInUse = true
      last = (sql.utf8Start, cached)
      return cached
    }
    let prepared = try PreparedStatement(sql, on: handle)
    if cached == nil { statements[sql.utf8Start] = prepared }
    return prepared
  }
}

extension SQLiteConnection {
  /// Counts the log after each commit, instead of moving it then as SQLite does by itself.
  func countLog() {
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context { Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages) }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Moves what is in the log into the database, as far as no reader needs what is there.
  ///
  /// - Returns: pages in the log, and whether all of them were moved; nil where another connection has a lock that this
  ///   needs.
  func checkpoint(_ mode: Int32) throws -> (pages: Int, isWhole: Bool)? {
    // Not a moment of waiting: whoever wants to write would wait too.
    try withoutWaiting { handle in
      var (pages, moved): (Int32, Int32) = (0, 0)
      // Only an error of this call says why it failed.
      errno = 0
      let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &moved)
      if result & 0xFF == SQLITE_BUSY || result & 0xFF == SQLITE_LOCKED { return nil }
      guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
      return (Int(pages), moved == pages)
    }
  }

  /// SQLITE_TRANSIENT: SQLite copies what it is given.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  func bind(_ values: [SQLiteValue], _ loans: [SQLiteLoan] = [], to statement: OpaquePointer, _ sql: StaticString)
    throws(SQLiteError)
  {
    let count = values.count + loans.count
    guard Int(sqlite3_bind_parameter_count(statement)) == count else {
      throw .misuse("\(count) values for another number of places", statement: "\(sql)")
    }
    var position: Int32 = 0
    func check(_ result: Int32) throws(SQLiteError) {
      guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, statement: "\(sql)") }
    }
    for value in values {
      position += 1
      try check(bind(value, to: statement, at: position))
    }
    for loan in loans {
      position += 1
      switch loan {
      case .null: try check(sqlite3_bind_null(statement, position))
      case .integer(let number): try check(sqlite3_bind_int64(statement, position, number))
      case .bytes(let bytes):
        guard let start = bytes.baseAddress, bytes.count > 0 else {
          try check(sqlite3_bind_zeroblob(statement, position, 0))
          continue
        }
        // SQLITE_STATIC: SQLite copies nothing.
        try check(sqlite3_bind_blob64(statement, position, start, UInt64(bytes.count), nil))
      }
    }
  }

  private func bind(_ value: SQLiteValue, to statement: OpaquePointer, at position: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(statement, position)
    case .integer(let number): return sqlite3_bind_int64(statement, position, number)
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
        return sqlite3_bind_blob64(statement, position, start, UInt64(memory.count), Self.copied)
      }
    }
  }
}

/// A compiled statement, finalized with this object.
final class PreparedStatement {
  let pointer: OpaquePointer
  var isInUse = true

  init(_ sql: StaticString, on handle: OpaquePointer) throws(SQLiteError) {
    var prepared: OpaquePointer?
    // Only an error of this call says why it failed.
    errno = 0
    let result = sql.utf8Start.withMemoryRebound(to: CChar.self, capacity: sql.utf8CodeUnitCount) {
      sqlite3_prepare_v3(handle, $0, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    }
    guard result == SQLITE_OK, let prepared else { throw SQLiteError(result, on: handle, statement: "\(sql)") }
    pointer = prepared
  }

  deinit { sqlite3_finalize(pointer) }
}

/// The files that a connection has open: others may be put in their place meanwhile, and SQLite would go
/// on writing to files that nobody finds again.
///
/// The log counts too: its commits are lost with it. It exists from the first transaction to the last
/// `close`, so it is remembered when it is first seen.
final class OpenFiles {
  private let path: String
  private var database: FileIdentity?
  private var log: FileIdentity?

  init(_ path: String) {
    self.path = path
    database = FileIdentity(path)
  }

  /// Throws `moved` when other files, or none, are at the path now.
  func check() throws(SQLiteError) {
    try Self.check(path, against: &database)
    try Self.check(path + "-wal", against: &log)
  }

  private static func check(_ path: String, against known: inout FileIdentity?) throws(SQLiteError) {
    let found = FileIdentity(path)
    known = known ?? found
    guard found != nil, found == known else {
      throw SQLiteError(kind: .moved, message: "\(path) was deleted or replaced while it was open")
    }
  }
}

/// Which file lies at a path.
private struct FileIdentity: Equatable {
  private let device: UInt64
  private let inode: UInt64

  /// Nil when there is no file, or it cannot be looked at.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
