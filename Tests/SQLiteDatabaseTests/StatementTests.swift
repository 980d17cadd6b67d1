import SQLiteDatabase
import Testing

@Suite struct StatementTests {
  @Test(arguments: [
    SQLiteValue.null, .integer(.min), .integer(.max), .text(""), .text("Zoë\u{0}x"), .blob([]), .blob([0, 1, 255]),
  ]) func aValueComesBackAsItWent(_ value: SQLiteValue) throws {
    let test = try TemporaryDatabase()
    let found = try test.database.write { tx in
      try tx.execute("INSERT INTO notes (data) VALUES (?)", value)
      return try tx.first("SELECT data, typeof(data) FROM notes") { row -> SQLiteValue in
        switch row.text(1) {
        case "null": .null
        case "integer": .integer(row.integer(0))
        case "text": .text(row.text(0))
        default: .blob(row.blob(0))
        }
      }
    }
    #expect(found == value)
  }

  @Test(arguments: [nil, [], [0, 1, 255]] as [[UInt8]?]) func whatIsLentIsWritten(_ bytes: [UInt8]?) throws {
    let test = try TemporaryDatabase()
    let found = try test.database.write { tx in
      func write(_ loan: SQLiteLoan) throws {
        try tx.execute("INSERT INTO notes (id, data) VALUES (?, ?)", lending: [.integer(.min), loan])
      }
      if let bytes { try bytes.withUnsafeBytes { try write(.bytes($0)) } } else { try write(.null) }
      #expect(throws: SQLiteError.self) {
        try tx.execute("DELETE FROM notes WHERE id = ?", lending: [.integer(1), .null])
      }
      return try tx.all("SELECT id, data FROM notes") { ($0.integer(0), $0.blobIfPresent(1)) }
    }
    #expect(found.count == 1 && found[0] == (.min, bytes))
  }

  @Test func nothingIsToldFromZero() throws {
    let test = try TemporaryDatabase()
    try test.database.read { tx in
      _ = try tx.first("SELECT NULL, 0, '', x''") { row in
        #expect(row.isNull(0) && row.integer(0) == 0)
        #expect(row.blobIfPresent(0) == nil)
        #expect(!row.isNull(1) && row.integer(1) == 0)
        #expect(row.text(2) == "" && row.blobIfPresent(3) == [])
        #expect(row.withBlob(0) { $0.count } == 0)
      }
    }
  }

  @Test func executeTellsHowManyRowsChanged() throws {
    let test = try TemporaryDatabase()
    try test.database.write { tx in
      for number in 0..<3 { try test.add("\(number)", in: tx) }
      #expect(tx.lastInsertedRowID == 3)
      #expect(try tx.execute("UPDATE notes SET data = 1 WHERE id > 1") == 2)
      #expect(try tx.execute("SELECT 1") == 0)
      #expect(try tx.execute("DELETE FROM notes WHERE id > 7") == 0)
    }
  }

  @Test func aStatementCanRunInsideOfItsOwnRows() throws {
    let test = try TemporaryDatabase()
    let pairs = try test.database.write { tx in
      for number in 0..<3 { try test.add("\(number)", in: tx) }
      func walk(_ depth: Int) throws -> [String] {
        try tx.all("SELECT text FROM notes ORDER BY id") { row in
          depth == 0 ? row.text(0) : row.text(0) + (try walk(depth - 1)).joined()
        }
      }
      return try walk(1)
    }
    #expect(pairs == ["0012", "1012", "2012"])
  }

  @Test func aFailedStatementCanBeUsedAgain() throws {
    let test = try TemporaryDatabase()
    try test.database.write { tx in
      try test.add("one", in: tx)
      #expect(throws: SQLiteError.self) { try test.add("one", in: tx) }
      try test.add("two", in: tx)
    }
    #expect(try test.notes() == ["one", "two"])
  }

  @Test func theNumberOfValuesIsChecked() throws {
    let test = try TemporaryDatabase()
    let error = try failure { try test.database.read { try $0.first("SELECT ? + ?", .integer(1)) { $0.integer(0) } } }
    #expect(error.kind == .misuse)
  }

  @Test func aValueIsNotPrinted() {
    #expect("\(SQLiteValue.text("swordfish"))" == "text <9 bytes>")
    #expect("\([SQLiteValue.blob([1, 2])])" == "[blob <2 bytes>]")
    #expect("\(SQLiteValue.integer(4711))" == "integer")
  }
}
