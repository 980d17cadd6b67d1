import CLibSQLite
import Foundation
import Testing

@testable import SQLiteDatabase

@Suite struct CheckpointTests {
  private func contains(_ marker: String, _ path: String) throws -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return false }
    return try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(marker.utf8)) != nil
  }

  @Test func whatWasDeletedIsInNoFileAfterACheckpoint() throws {
    let test = try TemporaryDatabase()
    let marker = "a marker that nobody else writes"
    try test.database.write { try test.add(marker, in: $0) }
    #expect(try contains(marker, test.path + "-wal"))
    #expect(try test.database.checkpointTruncate())
    #expect(try contains(marker, test.path))
    try test.database.write { try $0.execute("DELETE FROM notes") }
    #expect(try test.database.checkpointTruncate())
    #expect(try !contains(marker, test.path))
    #expect(try !contains(marker, test.path + "-wal"))
  }

  @Test func aReaderHoldsACheckpointBack() throws {
    let test = try TemporaryDatabase()
    try test.database.write { try test.add("one", in: $0) }
    try test.database.read { tx in
      #expect(try test.notes(in: tx) == ["one"])
      try test.database.write { try test.add("two", in: $0) }
      #expect(try !test.database.checkpointTruncate())
    }
    #expect(try test.database.checkpointTruncate())
  }

  @Test func thePragmasOfTheDesignHold() throws {
    let test = try TemporaryDatabase()
    for (sql, value) in [
      ("PRAGMA journal_mode", "wal"), ("PRAGMA synchronous", "2"), ("PRAGMA secure_delete", "1"),
      ("PRAGMA trusted_schema", "0"), ("PRAGMA cell_size_check", "1"), ("PRAGMA foreign_keys", "1"),
    ] as [(StaticString, String)] {
      #expect(try test.database.write { try $0.first(sql) { $0.text(0) } } == value, "\(sql)")
    }
  }
}

@Suite("The log is moved beside the writer") struct CheckpointsTests {
  private func database(_ checkpointPages: Int) throws -> TemporaryDatabase {
    var options = SQLiteDatabase.Options()
    options.checkpointPages = checkpointPages
    return try TemporaryDatabase(options)
  }

  /// Writes a note and some twenty pages beside it.
  private func write(_ number: Int, _ test: TemporaryDatabase) throws {
    try test.database.write { tx in
      try tx.execute(
        "INSERT INTO notes (text, data) VALUES (?, ?)", .text("note \(number)"),
        .blob([UInt8](repeating: UInt8(number & 0xFF), count: 80_000)))
    }
  }

  /// Pages that the log has room for.
  private func logPages(_ test: TemporaryDatabase) throws -> Int {
    let length = try FileManager.default.attributesOfItem(atPath: test.path + "-wal")[.size] as? Int
    return try #require(length) / 4_120
  }

  private func isIntact(_ path: String) throws -> Bool {
    let again = try SQLiteDatabase(path: path, access: .readOnly)
    defer { again.close() }
    return try again.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } } == "ok"
  }

  @Test("Under load the log begins again and again, and every commit is there") func bounded() throws {
    let test = try database(10)
    for number in 0..<200 { try write(number, test) }
    // 4,000 pages were written.
    #expect(try logPages(test) < 1_000)
    #expect(try test.notes() == (0..<200).map { "note \($0)" })
    #expect(try isIntact(test.path))
  }

  @Test("A short log stays as it is, and so does a database that is closed") func short() throws {
    let test = try database(1_000)
    for number in 0..<10 { try write(number, test) }
    #expect(try logPages(test) >= 200)
    test.database.close()
    try test.database.checkpoints.run()
    #expect(try isIntact(test.path))
  }

  @Test("The log is moved within the files that the writer has open, also where others lie at its path by then")
  func sameFiles() throws {
    let test = try database(1_000)
    try write(1, test)
    let moved = test.path + "-moved"
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.moveItem(atPath: test.path + suffix, toPath: moved + suffix)
    }
    let other = try SQLiteDatabase(path: test.path, access: .readWrite(create: true))
    defer { other.close() }
    try other.write { try $0.execute("CREATE TABLE others (id INTEGER PRIMARY KEY)") }
    func hasNote(_ path: String) throws -> Bool {
      try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("note 1".utf8)) != nil
    }
    #expect(try !hasNote(moved))
    try test.database.checkpoints.run()
    #expect(try hasNote(moved) && !hasNote(test.path))
    #expect(try failure { try write(2, test) }.kind == .moved)
  }

  @Test("A reader keeps its snapshot while the log is moved, and what it needs is moved after it") func reader() throws
  {
    let test = try database(10)
    try write(0, test)
    try test.database.read { tx in
      #expect(try test.notes(in: tx) == ["note 0"])
      for number in 1..<20 { try write(number, test) }
      try test.database.checkpoints.run()
      #expect(try logPages(test) >= 380)
      #expect(try test.notes(in: tx) == ["note 0"])
    }
    try test.database.checkpoints.run()
    let before = try logPages(test)
    for number in 20..<24 { try write(number, test) }
    #expect(try logPages(test) == before)
    #expect(try test.notes() == (0..<24).map { "note \($0)" })
  }

  @Test("A copy has what was committed when it began, whatever is written and moved meanwhile") func copy() throws {
    let test = try database(10)
    let notes = (0..<20_000).map { "note \($0)" }
    try test.database.write { tx in for note in notes { try test.add(note, in: tx) } }
    var number = 20_000
    try test.database.copy(to: test.path + ".copy") {
      try write(number, test)
      try test.database.checkpoints.run()
      number += 1
    }
    #expect(number > 20_000)
    let copied = try SQLiteDatabase(path: test.path + ".copy", access: .readOnly)
    defer { copied.close() }
    #expect(try copied.read { try test.notes(in: $0) } == notes)
    #expect(try test.notes() == (0..<number).map { "note \($0)" })
    #expect(try test.database.checkpointTruncate())
  }

  @Test("What was deleted is in no file after the log is cut, also where it was moved before") func deleted() throws {
    let test = try database(10)
    let marker = "a marker that nobody else writes"
    try test.database.write { try test.add(marker, in: $0) }
    for number in 0..<10 { try write(number, test) }
    try test.database.write { try $0.execute("DELETE FROM notes") }
    try test.database.checkpoints.run()
    #expect(try test.database.checkpointTruncate())
    for path in [test.path, test.path + "-wal"] {
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(marker.utf8)) == nil)
    }
  }
}

@Suite("Memory that is given back") struct ReleaseMemoryTests {
  /// Bytes that the writing connection and the first idle reader keep pages in.
  private func cached(_ test: TemporaryDatabase) throws -> (writer: Int32, reader: Int32) {
    func bytes(_ connection: SQLiteConnection?) throws -> Int32 {
      var (now, most): (Int32, Int32) = (0, 0)
      let handle = try #require(connection?.handle)
      sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &now, &most, 0)
      return now
    }
    return try (bytes(test.database.writer), test.database.readers.withConnection(bytes))
  }

  @Test("The pages of the writer and of idle readers go, and are read again when they are needed") func pages() throws {
    let test = try TemporaryDatabase()
    let notes = (0..<2_000).map { "note \(10_000 + $0) of a table that has many pages" }
    try test.database.write { tx in for note in notes { try test.add(note, in: tx) } }
    #expect(try test.notes() == notes)
    let before = try cached(test)
    try test.database.releaseMemory()
    let after = try cached(test)
    #expect(after.writer < before.writer / 4)
    #expect(after.reader < before.reader / 4)
    try test.database.write { try test.add("the last one", in: $0) }
    #expect(try test.notes() == notes + ["the last one"])
  }

  @Test("A reader at work keeps its snapshot, and a closed database has nothing to give back") func inUse() throws {
    let test = try TemporaryDatabase()
    try test.database.write { try test.add("one", in: $0) }
    try test.database.read { tx in
      try test.database.releaseMemory()
      #expect(try test.notes(in: tx) == ["one"])
    }
    test.database.close()
    try test.database.releaseMemory()
  }
}
