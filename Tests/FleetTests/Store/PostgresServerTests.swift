// SPDX-License-Identifier: Apache-2.0

#if Fleet
import TestKit
import Testing

@Suite("PostgreSQL of the tests", .enabled(if: PostgresServer.isAvailable))
struct PostgresServerTests {
  @Test("What is committed is there after a crash, and on a standby that was promoted")
  func crashAndPromotion() throws {
    let server = try PostgresServer()
    try server.run("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
    server.kill()
    #expect(throws: (any Error).self) { try server.run("SELECT 1") }
    try server.start()
    #expect(try server.run("SELECT n FROM t") == ["1"])
    let standby = try server.makeStandby()
    try server.run("INSERT INTO t VALUES (2)")
    server.kill()
    try standby.promote()
    #expect(try standby.run("SELECT n FROM t ORDER BY n") == ["1", "2"])
    try standby.run("INSERT INTO t VALUES (3)")
  }

  @Test("A server goes on where it was stopped, and each database is empty")
  func pause() throws {
    let server = try PostgresServer.shared()
    let names = try (0..<2).map { _ in try server.makeDatabase() }
    #expect(Set(names).count == 2)
    #expect(
      try server.run(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database: names[1]) == ["0"])
    let own = try PostgresServer()
    own.pause()
    own.resume()
    #expect(try own.run("SELECT 1") == ["1"])
  }
}
#endif
