// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

/// One SQLite file in WAL mode: one connection that writes, under a lock, and readers beside it
/// that never wait for it. Synchronous: a body must not suspend, and should be short.
package final class SQLiteDatabase: Sendable {
  /// How a file is opened.
  package enum Access: Equatable, Sendable {
    case readWrite(create: Bool)
    /// Nothing is changed, and other processes may write meanwhile.
    case readOnly
  }

  /// What hardly anyone needs to change.
  package struct Options: Sendable {
    /// How long to wait for a lock of another process, in milliseconds.
    package var busyTimeout: Int32 = 5_000
    /// Page cache of the writer and of each reader, in KiB. A ceiling, filled as pages are read;
    /// it should hold the indexes: 64 MiB is two of them at a million rows.
    package var writerCache = 65_536
    package var readerCache = 65_536
    /// Connections kept open for the next reader.
    package var idleReaders = 4
    /// The name of another virtual file system, for tests that need a failing disk.
    package var vfs: String?

    package init() {}
  }

  package let path: String
  package let access: Access
  let options: Options
  let lock = ThreadLock()
  let writer: SQLiteConnection?
  let readers: ReaderPool

  /// Opens the file. Whether others may read it is the caller's business.
  package init(
    path: String, access: Access, options: Options = Options()
  ) throws(SQLiteError) {
    self.path = path
    self.access = access
    self.options = options
    readers = ReaderPool(path: path, options: options)
    guard case .readWrite(let create) = access else {
      writer = nil
      return
    }
    let flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0)
    let connection = try SQLiteConnection(path: path, flags: flags, options: options)
    // Without it readers would wait for the writer, and the ways of erasing would not hold.
    let mode = try connection.text("PRAGMA journal_mode = WAL")
    guard mode == "wal" else {
      throw SQLiteError(
        kind: .other,
        message: "\(path) cannot have a write-ahead log (its journal is \(mode ?? "unknown"))")
    }
    // Overwritten pages are zeroed (secure_delete), a schema can run no function of ours
    // (trusted_schema), and a damaged page is noticed when it is read (cell_size_check). Whoever
    // commits when the log has that many pages moves all of them into the file; with four times
    // SQLite's number that comes less often, and a page that changed often is moved once.
    try connection.run(
      """
      PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(options.writerCache);
      PRAGMA wal_autocheckpoint = 4000;
      """)
    writer = connection
    // A virtual file system of a test need not have files.
    if options.vfs == nil { connection.files = OpenFiles(path) }
  }

  deinit { close() }

  /// Runs `body` in a transaction that holds the database's write lock from its first moment, and
  /// commits it to the disk. Whatever is thrown rolls everything back.
  @discardableResult
  package func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    guard let writer else {
      throw SQLiteError(
        kind: .readOnly, code: SQLITE_READONLY, message: "the database is open for reading only")
    }
    let (result, transaction) = try lock.withLock {
      try writer.perform("BEGIN IMMEDIATE")
      let transaction = WriteTransaction(writer)
      defer { transaction.finish() }
      do {
        let result = try body(transaction)
        try transaction.runCommitHooks()
        try writer.files?.check()
        try writer.perform("COMMIT")
        transaction.runPublications()
        return (result, transaction)
      } catch {
        // SQLite has already rolled back after some errors. Otherwise a failure to roll back
        // leaves nothing to do: what isn't committed never comes back.
        if writer.isInTransaction { try? writer.run("ROLLBACK") }
        throw error
      }
    }
    transaction.runAfterHooks()
    return result
  }

  /// Runs `body` on a snapshot of what is committed now.
  package func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    try readers.withConnection { connection in
      try connection.perform("BEGIN")
      let transaction = ReadTransaction(connection)
      defer {
        transaction.finish()
        try? connection.perform("COMMIT")
      }
      return try body(transaction)
    }
  }

  /// Moves the write-ahead log into the database and cuts it to nothing, so that no older version
  /// of a page is left. False when a reader still needs it: try again later.
  package func checkpointTruncate() throws -> Bool {
    guard let writer else { return true }
    return try lock.withLock {
      // Not a moment of waiting: whoever wants to write would wait too.
      try writer.withoutWaiting { handle in
        let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if result & 0xFF == SQLITE_BUSY || result & 0xFF == SQLITE_LOCKED { return false }
        guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
        return true
      }
    }
  }

  /// Closes the file; the log is moved into it when nobody else has it open. Later calls throw.
  package func close() {
    readers.close()
    try? lock.withLock { writer?.close() }
  }
}
