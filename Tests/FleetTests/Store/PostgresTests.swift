#if Fleet
import Foundation
import TestKit
import Testing

@testable import Fleet

@Suite("Connections to PostgreSQL", .enabled(if: PostgresServer.isAvailable)) struct PostgresTests {
  private func connection() throws -> PostgresConnection { try PostgresConnection(url: PostgresServer.shared().url()) }

  @Test("Values are what they were, NULL and empty ones too") func values() throws {
    let row = try connection().query(
      "SELECT $1, $2, $3, $4, $5, $6, 5::int, (-3)::smallint, cardinality($7), $7[2], cardinality($8)",
      [
        .int(Int64.min), .text("grün"), .bytes([0, 255]), .text(nil), .text(""), .bytes([]), .ints([1, -2, .max]),
        .ints([]),
      ])[0]
    #expect(row[0]?.int == Int64.min && row[1]?.text == "grün" && row[2]?.bytes == [0, 255])
    #expect(row[3] == nil && row[4]?.text == "" && row[5]?.bytes == [])
    #expect(row[6]?.int == 5 && row[7]?.int == -3 && row[8]?.int == 3 && row[9]?.int == -2)
    #expect(row[10]?.int == 0)
  }

  @Test("Statements in one pipeline are all done or none, and the connection goes on") func pipeline() throws {
    let connection = try connection()
    let table = "t_\(UUID().uuidString.prefix(8))"
    let insert = "INSERT INTO \(table) VALUES ($1)"
    let rows = try connection.pipeline([
      ("CREATE TABLE \(table) (n bigint PRIMARY KEY)", []), (insert, [.int(1)]), (insert, [.int(2)]),
      ("SELECT n FROM \(table) ORDER BY n", []),
    ])
    #expect(rows.count == 4 && rows[3].map { $0[0]?.int } == [1, 2])
    let error = #expect(throws: PostgresError.self) {
      try connection.pipeline([(insert, [.int(3)]), (insert, [.int(1)]), ("SELECT 'new'", [])])
    }
    #expect(error?.kind == .refused && error?.sqlState == "23505" && connection.isUsable)
    #expect(try connection.query("SELECT count(*) FROM \(table)")[0][0]?.int == 2)
    #expect(throws: PostgresError.self) {
      try connection.transaction { connection in
        try connection.query(insert, [.int(4)])
        try connection.query(insert, [.int(1)])
      }
    }
    #expect(try connection.query("SELECT count(*) FROM \(table)")[0][0]?.int == 2)
  }

  @Test("What a commit refuses at its end is an error, and the connection goes on") func deferred() throws {
    let connection = try connection()
    let table = "t_\(UUID().uuidString.prefix(8))"
    try connection.query("CREATE TABLE \(table) (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    let insert = "INSERT INTO \(table) VALUES (1)"
    try connection.query(insert)
    let error = #expect(throws: PostgresError.self) { try connection.query(insert) }
    #expect(error?.kind == .refused && error?.sqlState == "23505" && connection.isUsable)
    #expect(try connection.query("SELECT count(*) FROM \(table)")[0][0]?.int == 1)
  }

  @Test(
    "No error has a value or a password",
    arguments: [
      "postgresql://u:se%63ret@127.0.0.1:1/x", "postgresql://u:secret@@127.0.0.1:1/x",
      "postgresql://u:se/secret@127.0.0.1:1/x", "postgresql://u:1/secret@127.0.0.1/x",
      "postgresql://u:se?secret@127.0.0.1/x", "host=/dev/null password=secret", "secret",
      "postgresql://u:secret@127.0.0.1:1/x?secret=1",
    ]) func passwords(_ url: String) throws
  {
    let error = #expect(throws: PostgresError.self) { try PostgresPool(url: url).withConnection { _ in } }
    #expect(error?.kind == .connection && error?.isUnsent == true)
    #expect(error.map { !"\($0)".contains("secret") && !$0.message.isEmpty } == true)
  }

  @Test("An error quotes no value") func errorValues() throws {
    for (sql, value) in [("SELECT $1::int", "secret"), ("SELECT $1::jsonb", "secret"), ("SELECT 1 / ($1::int)", "0")] {
      let error = #expect(throws: PostgresError.self) { try connection().query(sql, [.text(value)]) }
      #expect(error?.kind == .refused && error?.description.contains("secret") == false)
    }
  }

  @Test("A pool lends as many connections as it has, makes new ones, and waits until a deadline") func pool() throws {
    let server = try PostgresServer()
    let pool = PostgresPool(url: server.url(), size: 1)
    try pool.withConnection { connection in
      try connection.query("BEGIN")
      let error = #expect(throws: PostgresError.self) {
        try pool.withConnection(until: .now + .milliseconds(50)) { _ in }
      }
      #expect(error?.isUnsent == true)
    }
    // What was open is gone.
    #expect(try pool.withConnection { try $0.query("SELECT txid_current_if_assigned()")[0][0] } == nil)
    func works() throws -> Bool { try pool.withConnection { try $0.query("SELECT 1")[0][0]?.int } == 1 }
    server.kill()
    #expect(throws: PostgresError.self) { try works() }
    try server.start()
    #expect(try works())
    // It says so on each connection.
    server.stop()
    try server.start()
    #expect(try works())
    server.pause()
    let start = ContinuousClock.now
    for sql in ["SELECT 1", "SELECT 2"] {
      let error = #expect(throws: PostgresError.self) {
        try pool.withConnection(until: .now + .milliseconds(300)) { try $0.query(sql) }
      }
      #expect(error?.kind == .connection)
    }
    // The second has to connect: libpq's shortest limit is two seconds.
    #expect(ContinuousClock.now - start < .seconds(20))
    server.resume()
    #expect(try works())
  }

  @Test("An error says nothing of a server that was not reached") func noState() {
    #expect(PostgresError(.connection, "no server").sqlState.isEmpty)
  }
}
#endif
