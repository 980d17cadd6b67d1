// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite("A damaged or missing file")
struct DamageTests {
  private let test: TemporaryDatabase

  init() throws {
    test = try TemporaryDatabase()
    try test.database.write { tx in
      try tx.execute("CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT)")
      try tx.execute("CREATE INDEX notes_data ON notes (data) WHERE data IS NOT NULL")
      for number in 0..<500 {
        try test.add("note \(number)", in: tx)
        try tx.execute("INSERT INTO other (text) VALUES ('kept')")
      }
    }
    _ = try test.database.checkpointTruncate()
  }

  @Test("A table with a damaged root page is named, and the others are not")
  func named() throws {
    #expect(try test.database.damagedTables() == [])
    try DamagedPage.root(of: "notes", in: test.path)
    #expect(try test.database.damagedTables() == ["notes"])
  }

  @Test("A damaged table is recreated with its indexes, and the others keep their rows")
  func recreated() throws {
    try DamagedPage.root(of: "notes", in: test.path)
    try test.database.recreate(["notes"]) { tx in
      try test.add("first", in: tx)
    }
    #expect(try test.notes() == ["first"])
    #expect(try test.database.damagedTables() == [])
    let duplicate = try #require(throws: SQLiteError.self) {
      try test.database.write { try test.add("first", in: $0) }
    }
    #expect(duplicate.isDuplicate)
    let (others, indexes) = try test.database.read { tx in
      (
        try tx.first("SELECT count(*) FROM other") { $0.integer(0) },
        try tx.all("SELECT name FROM sqlite_schema WHERE type = 'index'") { $0.text(0) }
      )
    }
    #expect(others == 500)
    #expect(indexes.contains("notes_data"))
    test.database.close()
    let again = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
    #expect(try again.read { try test.notes(in: $0) } == ["first"])
  }

  @Test("When the transaction fails, nothing is recreated, and the database can still be used")
  func failure() throws {
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try test.database.recreate(["notes"]) { _ in throw Failure() }
    }
    #expect(try test.notes().count == 500)
    try test.database.write { try test.add("more", in: $0) }
    #expect(try test.notes().count == 501)
  }

  @Test(
    "A file that was deleted or replaced takes no commit, until it is back",
    arguments: ["", "-wal"], [false, true])
  func moved(suffix: String, isReplaced: Bool) throws {
    try test.database.write { try test.add("before", in: $0) }
    let path = test.path + suffix
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    if isReplaced { try FileManager.default.copyItem(atPath: path + ".away", toPath: path) }
    for _ in 1...2 {
      let error = try #require(throws: SQLiteError.self) {
        try test.database.write { try test.add("lost", in: $0) }
      }
      #expect(error.kind == .moved)
    }
    if isReplaced { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    try test.database.write { try test.add("after", in: $0) }
    #expect(try test.notes().suffix(2) == ["before", "after"])
  }
}
