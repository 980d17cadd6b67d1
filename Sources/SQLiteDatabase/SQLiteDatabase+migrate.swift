// SPDX-License-Identifier: Apache-2.0

extension SQLiteDatabase {
  /// Brings the tables of `component` up to date: each step once, all that are missing in one
  /// transaction.
  ///
  /// - Throws: `SQLiteError` of kind `newerVersion` when the database has steps that this program
  ///   does not know, and `readOnly` when steps are missing and the database is open for reading.
  package func migrate(_ component: String, _ migrations: [Migration]) throws {
    let done = try read { try Self.version(of: component, in: $0) }
    guard done <= migrations.count else { throw Self.newer(component, done, migrations.count) }
    guard done < migrations.count else { return }
    guard access != .readOnly else {
      throw SQLiteError(
        kind: .readOnly,
        message: "the tables of \(component) are older than this program: open it for writing once")
    }
    try write { transaction in
      try transaction.execute(
        """
        CREATE TABLE IF NOT EXISTS migrations (
          component TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL,
          PRIMARY KEY (component, version)) WITHOUT ROWID
        """)
      // Asked again: another process may have been here in between.
      let done = try Self.version(of: component, in: transaction)
      guard done <= migrations.count else { throw Self.newer(component, done, migrations.count) }
      for (offset, migration) in migrations.enumerated().dropFirst(done) {
        try migration.body(transaction)
        try transaction.execute(
          "INSERT INTO migrations (component, version, name) VALUES (?, ?, ?)",
          .text(component), .integer(Int64(offset + 1)), .text(migration.name))
      }
    }
  }

  private static func version(of component: String, in transaction: ReadTransaction) throws -> Int {
    let exists = try transaction.first(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
    ) { _ in true }
    guard exists == true else { return 0 }
    let version = try transaction.first(
      "SELECT max(version) FROM migrations WHERE component = ?", .text(component)
    ) { $0.integer(0) }
    return Int(clamping: version ?? 0)
  }

  private static func newer(_ component: String, _ found: Int, _ known: Int) -> SQLiteError {
    SQLiteError(
      kind: .newerVersion,
      message: "the tables of \(component) are at version \(found), this program knows \(known):"
        + " use the newer program")
  }
}
