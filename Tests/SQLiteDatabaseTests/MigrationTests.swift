// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import TestKit
import Testing

@Suite struct MigrationTests {
  private let steps = [
    Migration("first", ["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"]),
    Migration("second") { tx in try tx.execute("INSERT INTO a VALUES (2)") },
  ]

  private func rows(_ database: SQLiteDatabase) throws -> [Int64] {
    try database.read { try $0.all("SELECT x FROM a ORDER BY x") { $0.integer(0) } }
  }

  @Test func eachStepRunsOnce() throws {
    let test = try TemporaryDatabase()
    try test.database.migrate("bridge", Array(steps.prefix(1)))
    #expect(try rows(test.database) == [1])
    try test.database.migrate("bridge", steps)
    try test.database.migrate("bridge", steps)
    #expect(try rows(test.database) == [1, 2])
  }

  @Test func componentsCountForThemselves() throws {
    let test = try TemporaryDatabase()
    try test.database.migrate("bridge", steps)
    try test.database.migrate("other", [Migration("first", ["CREATE TABLE b (x)"])])
    let recorded = try test.database.read {
      try $0.all("SELECT component, version, name FROM migrations ORDER BY 1, 2") {
        "\($0.text(0)) \($0.integer(1)) \($0.text(2))"
      }
    }
    #expect(recorded == ["bridge 1 first", "bridge 2 second", "other 1 first"])
  }

  @Test func aFailingStepLeavesNothing() throws {
    let test = try TemporaryDatabase()
    let failing = steps + [Migration("third") { _ in throw Refusal() }]
    #expect(throws: Refusal.self) { try test.database.migrate("bridge", failing) }
    #expect(throws: SQLiteError.self) { try rows(test.database) }
    try test.database.migrate("bridge", steps)
    #expect(try rows(test.database) == [1, 2])
  }

  @Test func aDatabaseOfANewerVersionIsRefused() throws {
    let test = try TemporaryDatabase()
    try test.database.migrate("bridge", steps)
    #expect {
      try test.database.migrate("bridge", Array(steps.prefix(1)))
    } throws: {
      ($0 as? SQLiteError)?.kind == .newerVersion
    }
  }

  @Test func aReaderRefusesTablesThatAreTooOld() throws {
    let test = try TemporaryDatabase()
    try test.database.migrate("bridge", Array(steps.prefix(1)))
    let reader = try SQLiteDatabase(path: test.path, access: .readOnly)
    try reader.migrate("bridge", Array(steps.prefix(1)))
    #expect {
      try reader.migrate("bridge", steps)
    } throws: {
      ($0 as? SQLiteError)?.kind == .readOnly
    }
  }
}
