import SQLiteDatabase
import TestKit
import Testing

/// A database with one table of notes.
struct TemporaryDatabase {
  let directory: TemporaryDirectory
  let database: SQLiteDatabase

  var path: String { directory.file("test.sqlite3") }

  init(_ options: SQLiteDatabase.Options = .init()) throws {
    directory = try TemporaryDirectory()
    database = try SQLiteDatabase(
      path: directory.file("test.sqlite3"), access: .readWrite(create: true), options: options)
    try database.write { try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE, data)") }
  }

  func add(_ text: String, in tx: WriteTransaction) throws {
    try tx.execute("INSERT INTO notes (text) VALUES (?)", .text(text))
  }

  func notes(in tx: ReadTransaction) throws -> [String] {
    try tx.all("SELECT text FROM notes ORDER BY id") { $0.text(0) }
  }

  func notes() throws -> [String] { try database.read { try notes(in: $0) } }
}

struct Refusal: Error {}

/// The error of SQLite that something has to throw.
func failure<R>(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> R) throws -> SQLiteError {
  try #require(throws: SQLiteError.self, sourceLocation: location) { _ = try body() }
}
