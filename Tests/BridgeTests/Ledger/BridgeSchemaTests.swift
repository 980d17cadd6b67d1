// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("The bridge's tables")
struct BridgeSchemaTests {
  private let store: TemporaryStore
  private var database: SQLiteDatabase { store.keychain.database }

  init() throws { store = try TemporaryStore() }

  private func tables() throws -> [String] {
    try database.read {
      try $0.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
    }
  }

  @Test("They are made once; what is in them stays")
  func once() throws {
    #expect(try !tables().contains("router"))
    try BridgeSchema.create(in: database)
    let made = try tables()
    #expect(made.contains("router") && made.contains("home_assistant"))
    try database.write { try $0.execute("UPDATE outbox SET published = 7") }
    try BridgeSchema.create(in: database)
    #expect(try tables() == made)
    #expect(try database.read { try EventLedger.published($0) } == 7)
  }

  @Test("Where they cannot all be made, none is")
  func whole() throws {
    try database.write { try $0.execute("CREATE TABLE home_assistant (id INTEGER)") }
    let before = try tables()
    #expect(throws: SQLiteError.self) { try BridgeSchema.create(in: database) }
    #expect(try tables() == before)
  }

  @Test("Those of another version are refused", arguments: [0, BridgeSchema.version + 1])
  func otherVersion(_ version: Int64) throws {
    try BridgeSchema.create(in: database)
    try database.write { try $0.execute("UPDATE bridge SET version = ?", .integer(version)) }
    #expect {
      try BridgeSchema.create(in: database)
    } throws: { error in
      (error as? SQLiteError)?.kind == .otherVersion && "\(error)".contains("version \(version)")
    }
  }
}
