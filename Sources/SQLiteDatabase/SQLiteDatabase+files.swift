// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

extension SQLiteDatabase {
  /// Tables with a damaged page, in their rows or in an index, in the order of their names. Reads all
  /// of the file on a connection of its own, which sees the disk and no older copy in memory.
  ///
  /// - Throws: `SQLiteError` of kind `corrupt` or `notADatabase` when the list of tables itself is
  ///   damaged.
  package func damagedTables() throws -> [String] {
    let connection = try SQLiteConnection(
      path: path, flags: SQLITE_OPEN_READONLY, options: options)
    defer { connection.close() }
    try connection.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    let tx = ReadTransaction(connection)
    defer { tx.finish() }
    let tables = try tx.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
      $0.text(0)
    }
    return try tables.filter { table in
      do {
        // https://www.sqlite.org/pragma.html#pragma_integrity_check, of one table and its indexes.
        let verdict = try tx.first(
          "SELECT integrity_check FROM pragma_integrity_check(?)", .text(table)
        ) { $0.text(0) }
        return verdict != "ok"
      } catch let error as SQLiteError where error.kind == .corrupt {
        return true
      }
    }
  }

  /// Recreates tables, empty, and runs `body` in the same transaction. Their old pages stay in the
  /// file, unused, until it is compacted.
  ///
  /// Not DROP TABLE: it fails where the root page is damaged, and elsewhere it would give every page
  /// that a damaged page names to the next table, pages of other tables among them. So the tables are
  /// only taken out of the schema (https://www.sqlite.org/pragma.html#pragma_writable_schema). Nothing
  /// in the transaction may read them before: after one damaged page SQLite refuses all that follows.
  package func recreate<R>(
    _ tables: [String], _ body: (WriteTransaction) throws -> R
  ) throws -> R {
    do {
      return try write { tx in
        try tx.recreate(tables)
        return try body(tx)
      }
    } catch {
      // The schema in memory may be the one that was rolled back.
      try? lock.withLock { try writer?.run("PRAGMA writable_schema = RESET") }
      throw error
    }
  }
}

extension WriteTransaction {
  fileprivate func recreate(_ tables: [String]) throws {
    // Tables come before their indexes. What SQLite makes by itself has no statement.
    let statements = try tables.flatMap { table in
      try all(
        """
        SELECT sql FROM sqlite_schema
         WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL
         ORDER BY type DESC
        """, .text(table)
      ) { $0.text(0) }
    }
    try connection.run("PRAGMA writable_schema = ON")
    defer { try? connection.run("PRAGMA writable_schema = OFF") }
    for table in tables {
      try execute("DELETE FROM sqlite_schema WHERE tbl_name = ?", .text(table))
    }
    try connection.run("PRAGMA writable_schema = RESET")
    for statement in statements { try connection.run(statement) }
  }
}

extension SQLiteDatabase {
  /// Writes what is committed now into another file, without free pages and without a log beside it.
  /// Others read and write meanwhile, also from other processes.
  ///
  /// The file must be empty, or not be there. It is not yet synced to the disk, and after an error it
  /// is of no use.
  ///
  /// - Parameter whileCopying: called now and then; what it throws ends the copy.
  package func copy(to path: String, whileCopying: () throws -> Void) throws {
    let connection = try SQLiteConnection(
      path: self.path, flags: SQLITE_OPEN_READONLY, options: options)
    defer { connection.close() }
    try connection.run(
      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    try withoutActuallyEscaping(whileCopying) { whileCopying in
      let call = ProgressCall(whileCopying)
      try withExtendedLifetime(call) {
        sqlite3_progress_handler(
          connection.handle, 20_000,
          { context in
            guard let context else { return 0 }
            return Unmanaged<ProgressCall>.fromOpaque(context).takeUnretainedValue().isStopped()
              ? 1 : 0
          }, Unmanaged.passUnretained(call).toOpaque())
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        do {
          try connection.withStatement("VACUUM INTO ?", [.text(path)]) { statement in
            while try connection.step(statement, "VACUUM INTO ?") {}
          }
        } catch {
          throw call.error ?? error
        }
      }
      call.body = {}
    }
  }
}

private final class ProgressCall {
  var body: () throws -> Void
  private(set) var error: (any Error)?

  init(_ body: @escaping () throws -> Void) { self.body = body }

  func isStopped() -> Bool {
    do { try body() } catch { self.error = self.error ?? error }
    return error != nil
  }
}
