import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite struct SQLiteErrorTests {
  @Test func aDuplicateIsToldWithoutItsValue() throws {
    let test = try TemporaryDatabase()
    let found = try failure {
      try test.database.write { tx in
        try test.add("swordfish", in: tx)
        try test.add("swordfish", in: tx)
      }
    }
    #expect(found.kind == .constraint && found.isDuplicate)
    #expect(found.statement == "INSERT INTO notes (text) VALUES (?)")
    #expect("\(found)".contains("notes.text"))
    #expect(!"\(found)".contains("swordfish"))
  }

  @Test func aFileOfAnotherKindIsNoDatabase() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("x")
    try Data(repeating: 65, count: 8192).write(to: URL(fileURLWithPath: path))
    let found = try failure { try SQLiteDatabase(path: path, access: .readWrite(create: false)) }
    #expect(found.kind == .notADatabase)
  }

  @Test func aMissingFileIsAnError() throws {
    let directory = try TemporaryDirectory()
    let found = try failure { try SQLiteDatabase(path: directory.file("x"), access: .readWrite(create: false)) }
    #expect(found.kind == .io)
  }

  @Test func aDatabaseForReadingIsNotWritten() throws {
    let test = try TemporaryDatabase()
    try test.database.write { try test.add("one", in: $0) }
    let reader = try SQLiteDatabase(path: test.path, access: .readOnly)
    #expect(try reader.read { try test.notes(in: $0) } == ["one"])
    #expect(try failure { try reader.write { try test.add("two", in: $0) } }.kind == .readOnly)
    // Nor through the back door.
    let found = try failure {
      try reader.read { tx in _ = try tx.first("INSERT INTO notes (text) VALUES ('x') RETURNING id") { $0.integer(0) } }
    }
    #expect(found.kind == .readOnly)
  }

  @Test func aClosedDatabaseSaysSo() throws {
    let test = try TemporaryDatabase()
    test.database.close()
    #expect(try failure { try test.notes() }.kind == .misuse)
    #expect(try failure { try test.database.write { _ in } }.kind == .misuse)
    #expect(try failure { try test.database.checkpointTruncate() }.kind == .misuse)
    test.database.close()
  }

  @Test func aDamagedPageIsNoticed() throws {
    let test = try TemporaryDatabase()
    try test.database.write { tx in for number in 0..<500 { try test.add("note number \(number)", in: tx) } }
    test.database.close()
    let handle = try #require(FileHandle(forUpdatingAtPath: test.path))
    try handle.seek(toOffset: 4096)
    try handle.write(contentsOf: Data(repeating: 0x5A, count: 4096))
    try handle.close()
    let again = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
    #expect(try failure { try again.read { try test.notes(in: $0) } }.kind == .corrupt)
  }

  @Test func theBusyDatabaseOfAnotherIsWaitedForAndThenReported() throws {
    var options = SQLiteDatabase.Options()
    options.busyTimeout = 50
    let test = try TemporaryDatabase()
    let other = try SQLiteDatabase(path: test.path, access: .readWrite(create: false), options: options)
    let found = try test.database.write { _ in try failure { try other.write { try test.add("x", in: $0) } } }
    #expect(found.kind == .busy)
    try other.write { try test.add("x", in: $0) }
    #expect(try test.notes() == ["x"])
  }
}

@Suite("A missing file") struct DamageTests {
  private let test: TemporaryDatabase

  init() throws {
    test = try TemporaryDatabase()
    try test.database.write { tx in for number in 0..<500 { try test.add("note \(number)", in: tx) } }
    _ = try test.database.checkpointTruncate()
  }

  @Test(
    "A file that was deleted or replaced takes no commit, until it is back", arguments: ["", "-wal"], [false, true])
  func moved(suffix: String, isReplaced: Bool) throws {
    try test.database.write { try test.add("before", in: $0) }
    let path = test.path + suffix
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    if isReplaced { try FileManager.default.copyItem(atPath: path + ".away", toPath: path) }
    for _ in 1...2 {
      let error = try failure { try test.database.write { try test.add("lost", in: $0) } }
      #expect(error.kind == .moved)
    }
    if isReplaced { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    try test.database.write { try test.add("after", in: $0) }
    #expect(try test.notes().suffix(2) == ["before", "after"])
  }
}
