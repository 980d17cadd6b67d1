// SPDX-License-Identifier: Apache-2.0

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
  package let code: Int32
  /// English words.
  package let message: String
  /// The SQL that failed, with its placeholders.
  package let statement: String?

  package init(kind: Kind, code: Int32 = 0, message: String, statement: String? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.statement = statement
  }

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
