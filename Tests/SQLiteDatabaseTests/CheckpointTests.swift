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
