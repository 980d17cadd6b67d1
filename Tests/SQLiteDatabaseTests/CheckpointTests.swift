// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

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
    func pragma(_ sql: StaticString) throws -> String? {
      try test.database.write { try $0.first(sql) { $0.text(0) } }
    }
    #expect(try pragma("PRAGMA journal_mode") == "wal")
    #expect(try pragma("PRAGMA synchronous") == "2")
    #expect(try pragma("PRAGMA secure_delete") == "1")
    #expect(try pragma("PRAGMA trusted_schema") == "0")
    #expect(try pragma("PRAGMA cell_size_check") == "1")
    #expect(try pragma("PRAGMA foreign_keys") == "1")
  }
}
