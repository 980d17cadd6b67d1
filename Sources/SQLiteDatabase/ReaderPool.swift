// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

/// Connections for reading: one for each reader at work, a few kept for the next.
// Unchecked because `idle` and `isClosed` are touched under the lock only.
final class ReaderPool: @unchecked Sendable {
  private let lock = ThreadLock()
  private var idle: [SQLiteConnection] = []
  private var isClosed = false
  private let path: String
  private let options: SQLiteDatabase.Options

  init(path: String, options: SQLiteDatabase.Options) {
    self.path = path
    self.options = options
  }

  func withConnection<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Of the connections that nobody reads with now.
  func releaseMemory() throws {
    try lock.withLock { for connection in idle { connection.releaseMemory() } }
  }

  func close() {
    let closing = try? lock.withLock {
      isClosed = true
      defer { idle = [] }
      return idle
    }
    for connection in closing ?? [] { connection.close() }
  }

  private func take() throws -> SQLiteConnection {
    let waiting = try lock.withLock {
      guard !isClosed else { throw SQLiteError.misuse("the database is closed") }
      return idle.popLast()
    }
    if let waiting { return waiting }
    let connection = try SQLiteConnection(
      path: path, flags: SQLITE_OPEN_READONLY, options: options)
    try connection.run(
      """
      PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -\(options.readerCache);
      """)
    return connection
  }

  private func giveBack(_ connection: SQLiteConnection) {
    let isKept = try? lock.withLock {
      guard !isClosed, idle.count < options.idleReaders else { return false }
      idle.append(connection)
      return true
    }
    if isKept != true { connection.close() }
  }
}
