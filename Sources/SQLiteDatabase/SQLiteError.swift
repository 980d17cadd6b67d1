import CLibSQLite
import Glibc

/// What SQLite answered. It names the statement, never a value that was bound to it.
package struct SQLiteError: Error, Equatable, Sendable {
  /// What the caller can do about it.
  package enum Kind: Equatable, Sendable {
    /// The disk is full.
    case full
    /// The file, the directory or the file system may not be written.
    case readOnly
    /// Another connection holds a lock, longer than the busy time-out.
    case busy
    /// The file is damaged.
    case corrupt
    /// The operating system reported an error of input or output, or the file can't be opened.
    case io
    /// The file was deleted, or another one is in its place, while it was open.
    case moved
    /// A UNIQUE, NOT NULL or other constraint.
    case constraint
    case interrupted
    /// The file is no SQLite database.
    case notADatabase
    /// Another version of this program has made the tables.
    case otherVersion
    /// The calls are in an order that cannot work: a write inside of a write, a closed database.
    case misuse
    case outOfMemory
    case other
  }

  package let kind: Kind
  /// The extended result code, as in https://www.sqlite.org/rescode.html; 0 if it isn't SQLite's.
  package private(set) var code: Int32 = 0
  /// English words.
  package let message: String
  /// The SQL that failed, with its placeholders.
  package private(set) var statement: String?

  /// Whether a UNIQUE constraint answered (SQLITE_CONSTRAINT_UNIQUE or …_PRIMARYKEY).
  package var isDuplicate: Bool { code == 2067 || code == 1555 }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    var words = message
    if code != 0 { words += " (SQLite code \(code))" }
    if let statement { words += " in: \(statement)" }
    return words
  }
}

extension SQLiteError {
  /// The error that a connection has just met.
  init(_ code: Int32, on handle: OpaquePointer?, statement: String? = nil) {
    // Still that of the call that failed: SQLite keeps it for few errors only.
    let systemError = errno
    var extended = code
    var message = String(cString: sqlite3_errstr(code))
    var kind: Kind?
    if let handle, sqlite3_errcode(handle) & 0xFF == code & 0xFF {
      extended = sqlite3_extended_errcode(handle)
      message = String(cString: sqlite3_errmsg(handle))
      kind = Kind(systemError: systemError, resultCode: code)
      if code & 0xFF == SQLITE_CORRUPT, kind == .io { message = String(cString: strerror(systemError)) }
    }
    self.init(kind: kind ?? Kind(resultCode: extended), code: extended, message: message, statement: statement)
  }

  static func misuse(_ message: String, statement: String? = nil) -> SQLiteError {
    SQLiteError(kind: .misuse, code: SQLITE_MISUSE, message: message, statement: statement)
  }
}

extension SQLiteError.Kind {
  /// Of a read that SQLite reports as SQLITE_IOERR_CORRUPTFS.
  private static let failedReads = [EIO, ENXIO, ERANGE]

  /// SQLite calls nearly everything that a write meets an error of input and output; the operating
  /// system knows better.
  fileprivate init?(systemError: Int32, resultCode: Int32) {
    // A read that fails is reported as damage (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), but no page is damaged.
    if resultCode & 0xFF == SQLITE_CORRUPT, Self.failedReads.contains(systemError) {
      self = .io
      return
    }
    guard resultCode & 0xFF == SQLITE_IOERR else { return nil }
    switch systemError {
    case EROFS, EPERM, EACCES: self = .readOnly
    case ENOSPC, EDQUOT, EFBIG: self = .full
    default: return nil
    }
  }

  /// The low byte is the primary code.
  init(resultCode: Int32) {
    switch resultCode & 0xFF {
    case SQLITE_FULL: self = .full
    case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_SCHEMA: self = .busy
    case SQLITE_CORRUPT: self = .corrupt
    case SQLITE_IOERR, SQLITE_CANTOPEN: self = .io
    case SQLITE_CONSTRAINT: self = .constraint
    case SQLITE_INTERRUPT: self = .interrupted
    case SQLITE_NOTADB: self = .notADatabase
    case SQLITE_MISUSE: self = .misuse
    case SQLITE_NOMEM: self = .outOfMemory
    default: self = .other
    }
  }
}
