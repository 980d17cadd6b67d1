import CLibSQLite

extension SQLiteDatabase {
  /// Writes what is committed now into another file, without free pages and without a log beside it.
  /// Others read and write meanwhile, also from other processes.
  ///
  /// The file must be empty, or not be there. It is not yet synced to the disk, and after an error it
  /// is of no use.
  ///
  /// - Parameter whileCopying: called now and then; what it throws ends the copy.
  package func copy(to path: String, whileCopying: () throws -> Void) throws {
    let connection = try SQLiteConnection(path: self.path, flags: SQLITE_OPEN_READONLY, options: options)
    defer { connection.close() }
    try connection.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    try withoutActuallyEscaping(whileCopying) { whileCopying in
      let call = ProgressCall(whileCopying)
      try withExtendedLifetime(call) {
        sqlite3_progress_handler(
          connection.handle, 20_000,
          { context in
            guard let context else { return 0 }
            return Unmanaged<ProgressCall>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
          }, Unmanaged.passUnretained(call).toOpaque())
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        do {
          try connection.withStatement("VACUUM INTO ?", [.text(path)]) { statement in
            while try connection.step(statement, "VACUUM INTO ?") {}
          }
        } catch { throw call.error ?? error }
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
