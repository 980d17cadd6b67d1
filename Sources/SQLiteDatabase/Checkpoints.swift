import CLibSQLite
import Synchronization
import ThreadkeeperSupport

/// Moves the write-ahead log into the database beside the writer, by a connection of its own, so that no commit waits
/// for it.
///
/// | pages in the log | then |
/// |---|---|
/// | `checkpointPages` more than the last time | a thread moves what is committed, while others read and write |
/// | 4 times as many | the thread moves the rest too, while nobody writes: the next commit begins the log again |
/// | 16 times as many | the disk does not keep up: who has committed moves it, and waits |
///
/// What a reader needs stays in the log, which grows until that one has ended. A process that is killed, or a disk that
/// is full, leaves what was not moved in the log, and that counts.
// Unchecked because what changes is touched under one of two locks: `connection` under `lock`, once it is open, and
// `noted` under that of the writer. Who needs both takes `lock` first.
final class Checkpoints: @unchecked Sendable {
  private let path: String
  private let options: SQLiteDatabase.Options
  private let writerLock: ThreadLock
  /// Held while the log is moved.
  private let lock = ThreadLock()
  /// Nil before `open`, and after `close`.
  private var connection: SQLiteConnection?
  /// Pages in the log when it was moved last.
  private var noted = 0
  private let isRunning = Atomic(false)

  init(path: String, options: SQLiteDatabase.Options, writerLock: ThreadLock) {
    self.path = path
    self.options = options
    self.writerLock = writerLock
  }

  /// Called where the writer is opened, before anyone has the database: later, others could lie at its path, or the
  /// process could have too many files open, and the log would grow without end.
  func open() throws(SQLiteError) {
    let connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, options: options)
    try connection.run("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    // It does not see the log before it has read.
    _ = try connection.text("PRAGMA journal_mode")
    self.connection = connection
  }

  /// Called after each commit, under the lock of the writer.
  ///
  /// - Returns: whether the caller has to move the log, when it has given up that lock.
  func noteLog(pages: Int) -> Bool {
    // It has begun again.
    if pages < noted { noted = 0 }
    guard pages - noted >= options.checkpointPages else { return false }
    noted = pages
    if pages >= 16 * options.checkpointPages { return true }
    guard !isRunning.exchange(true, ordering: .relaxed) else { return false }
    SystemThread.run { [self] in
      defer { isRunning.store(false, ordering: .relaxed) }
      // What fails is in the log still, and is tried again when that has grown.
      try? run()
    }
    return false
  }

  /// Moves what is committed, and the rest where the log is long.
  func run() throws {
    try lock.withLock {
      guard let connection, let log = try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE), log.isWhole,
        log.pages >= 4 * options.checkpointPages
      else { return }
      _ = try writerLock.withLock { try connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE) }
    }
  }

  /// - Returns: false when a reader needs the log.
  func truncate(_ writer: SQLiteConnection) throws -> Bool {
    try lock.withLock {
      // While nobody writes, little should be left to move.
      _ = try connection?.checkpoint(SQLITE_CHECKPOINT_PASSIVE)
      return try writerLock.withLock { try writer.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) != nil }
    }
  }

  /// Returns when the log is not being moved any more.
  func close() {
    try? lock.withLock {
      connection?.close()
      connection = nil
    }
  }
}
