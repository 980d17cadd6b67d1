import CLibSQLite
import Glibc

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
    var writerCache = 65_536
    var readerCache = 65_536
    /// Connections kept open for the next reader.
    var idleReaders = 4
    /// Pages by which the write-ahead log grows between two checkpoints.
    var checkpointPages = 1_000
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
  let checkpoints: Checkpoints

  /// Opens the file. Whether others may read it is the caller's business.
  package init(path: String, access: Access, options: Options = Options()) throws(SQLiteError) {
    self.path = path
    self.access = access
    self.options = options
    readers = ReaderPool(path: path, options: options)
    checkpoints = Checkpoints(path: path, options: options, writerLock: lock)
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
        kind: .other, message: "\(path) cannot have a write-ahead log (its journal is \(mode ?? "unknown"))")
    }
    // Overwritten pages are zeroed (secure_delete), a schema can run no function of ours
    // (trusted_schema), and a damaged page is noticed when it is read (cell_size_check).
    try connection.run(
      """
      PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;
      PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(options.writerCache);
      """)
    connection.countLog()
    writer = connection
    // A virtual file system of a test need not have files.
    if options.vfs == nil { connection.files = OpenFiles(path) }
    try checkpoints.open()
  }

  deinit { close() }

  /// Runs `body` in a transaction that holds the database's write lock from its first moment, and
  /// commits it to the disk. Whatever is thrown rolls everything back.
  @discardableResult package func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    guard let writer else {
      throw SQLiteError(kind: .readOnly, code: SQLITE_READONLY, message: "the database is open for reading only")
    }
    let (result, transaction, isLogLong) = try lock.withLock {
      try writer.perform("BEGIN IMMEDIATE")
      let transaction = WriteTransaction(writer)
      defer { transaction.finish() }
      do {
        let result = try body(transaction)
        try transaction.runCommitHooks()
        try writer.files?.check()
        try writer.perform("COMMIT")
        transaction.runPublications()
        return (result, transaction, checkpoints.noteLog(pages: writer.logPages))
      } catch {
        // SQLite has already rolled back after some errors. Otherwise a failure to roll back
        // leaves nothing to do: what isn't committed never comes back.
        if writer.isInTransaction { try? writer.run("ROLLBACK") }
        throw error
      }
    }
    // What fails is in the log still, and is tried again when that has grown.
    if isLogLong { try? checkpoints.run() }
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

  /// Runs `body` without a transaction around it: for one statement, which sees a snapshot of its own. Those that run
  /// while it stands on a row see the same.
  package func look<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    try readers.withConnection { connection in
      let transaction = ReadTransaction(connection)
      defer { transaction.finish() }
      return try body(transaction)
    }
  }

  /// Moves the write-ahead log into the database and cuts it to nothing, so that no older version
  /// of a page is left. False when a reader still needs it: try again later.
  package func checkpointTruncate() throws -> Bool {
    guard let writer else { return true }
    return try checkpoints.truncate(writer)
  }

  /// Closes the file; the log is moved into it when nobody else has it open. Later calls throw.
  package func close() {
    readers.close()
    checkpoints.close()
    try? lock.withLock { writer?.close() }
  }

  /// Whether its files are still those that were opened; each transaction that writes looks, too.
  ///
  /// - Throws: `moved` when one is not there, or is another one.
  package func checkFiles() throws { if let writer { try lock.withLock { try writer.files?.check() } } }
}

extension SQLiteDatabase {
  /// Gives back the pages that the connections keep in memory: they are read again from the file when
  /// they are needed. For when nothing has been written for a while.
  ///
  /// The C library would keep what is free, tens of megabytes after a burst of work: it gives that back too.
  package func releaseMemory() throws {
    if let writer { try lock.withLock { writer.releaseMemory() } }
    try readers.releaseMemory()
    threadkeeper_give_back_free_memory()
  }
}

extension SQLiteConnection {
  /// As much as is not in use (sqlite3_db_release_memory).
  func releaseMemory() { if let handle { sqlite3_db_release_memory(handle) } }
}

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
  func releaseMemory() throws { try lock.withLock { for connection in idle { connection.releaseMemory() } } }

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
    let connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READONLY, options: options)
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

/// A lock that knows its holder, so that a write inside of a write is an error and no standstill.
// Unchecked because the mutex is made for being shared; its memory never moves.
final class ThreadLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<R>(_ body: () throws -> R) throws -> R {
    guard pthread_mutex_lock(mutex) == 0 else {
      throw SQLiteError.misuse("this thread is at work with the database: a write inside of a write")
    }
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}

extension SQLiteDatabase {
  /// Writes what is committed now into another file, without free pages and without a log beside it.
  /// Others read and write meanwhile, also from other processes.
  ///
  /// The file must be empty, or not be there. It is not yet synced to the disk, and after an error it
  /// is of no use.
  ///
  /// - Parameter whileCopying: called now and then; what it throws ends the copy.
  package func copy(to path: String, whileCopying: @escaping () throws -> Void) throws {
    let connection = try SQLiteConnection(path: self.path, flags: SQLITE_OPEN_READONLY, options: options)
    defer { connection.close() }
    try connection.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    let call = ProgressCall(whileCopying)
    try withExtendedLifetime(call) {
      sqlite3_progress_handler(
        connection.handle, 20_000,
        { context in
          guard let context else { return 0 }
          return Unmanaged<ProgressCall>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
        }, Unmanaged.passUnretained(call).toOpaque())
      defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
      do {
        try connection.withStatement("VACUUM INTO ?", [.text(path)]) { statement in
          while try connection.step(statement, "VACUUM INTO ?") {}
        }
      } catch { throw call.error ?? error }
    }
  }
}

private final class ProgressCall {
  private let body: () throws -> Void
  private(set) var error: (any Error)?

  init(_ body: @escaping () throws -> Void) { self.body = body }

  func isStopped() -> Bool {
    do { try body() } catch { self.error = self.error ?? error }
    return error != nil
  }
}
