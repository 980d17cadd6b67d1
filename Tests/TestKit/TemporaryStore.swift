import CLibSQLite
import Foundation
import KeychainCore

/// An encrypted store of a test's own, opened by a key file, gone with this object.
package final class TemporaryStore {
  private let home: TemporaryDirectory
  package let location: StoreLocation
  package let keyFile: KeySlotSecret
  package private(set) var keychain: Keychain
  private let options: KeychainOptions

  /// - Parameters:
  ///   - slots: further ways in. Passphrases among them cost the least that is accepted.
  ///   - change: of the options.
  package convenience init(slots: [KeySlotSecret] = [], _ change: (inout KeychainOptions) -> Void = { _ in }) throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    change(&options)
    try self.init(options: options, slots: slots)
  }

  package init(options: KeychainOptions, slots: [KeySlotSecret] = []) throws {
    home = try TemporaryDirectory()
    location = StoreLocation(directory: home.file("store"))
    keyFile = .keyFile(path: home.file("store.key"))
    self.options = options
    keychain = try Keychain.create(at: location, slots: [keyFile] + slots, options: options)
  }

  deinit { keychain.close() }

  /// The directory that all of it lies in.
  package var path: String { home.path }
  package var keyFilePath: String { home.file("store.key") }

  /// Closes the keychain and opens it again; `between` runs while it is closed.
  package func reopen(
    with secret: KeySlotSecret? = nil, access: Keychain.Access = .readWrite, between: () throws -> Void = {}
  ) throws {
    keychain.close()
    try between()
    keychain = try Keychain.open(at: location, with: secret ?? keyFile, access: access, options: options)
  }

  /// Another keychain on the same store, for reading beside this one.
  package func openBeside(options: KeychainOptions? = nil) throws -> Keychain {
    try Keychain.open(at: location, with: keyFile, access: .readOnly, options: options ?? self.options)
  }
}

extension Keychain {
  /// A backup under its name.
  package func backup(
    to path: String, replacing isReplacing: Bool = false, with attachment: [UInt8] = [],
    progress: @escaping (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
  ) throws(KeychainError) -> BackupTrailer {
    let draft = try BackupDraft(path, replacing: isReplacing)
    let trailer = try backup(into: draft, with: attachment, progress: progress)
    try draft.place()
    return trailer
  }

  /// `BackupRestore.run` in one call.
  package static func restore(
    _ path: String, to location: StoreLocation, with secrets: [KeySlotSecret], replacing isReplacing: Bool = false,
    keyFile: String? = nil, options: KeychainOptions = .init()
  ) throws(KeychainError) -> RestoreReport {
    var restore = BackupRestore(to: location)
    restore.isReplacing = isReplacing
    restore.keyFile = keyFile
    restore.options = options
    return try restore.run(BackupFile(path), with: secrets)
  }
}

extension Keychain {
  /// Alters the state of each record that has a secret, but for its last 16 bytes, which the manifest has.
  ///
  /// - Returns: how many those are.
  @discardableResult package func damageSecretRecords() throws -> Int {
    try database.write { tx in
      try tx.execute(
        """
        UPDATE records SET state = CAST(zeroblob(length(state) - 16) || substr(state, -16) AS BLOB)
        WHERE secret_version <> 0
        """)
      return try tx.first("SELECT count(*) FROM records WHERE secret_version <> 0") { Int($0.integer(0)) } ?? 0
    }
  }
}

/// Overwrites a page of a database's file, as a failing disk would.
package enum DamagedPage {
  struct NotFound: Error { let table: String }

  /// Writes rubbish over the first page of a table. Where the log still holds that page it is moved
  /// into the file first, as far as others let it: another process may have the database open.
  package static func root(of table: String, in path: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw NotFound(table: table) }
    sqlite3_busy_timeout(handle, 60_000)
    // A connection that has read nothing yet does not know of the log, and would move nothing.
    sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    var statement: OpaquePointer?
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
    sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw NotFound(table: table) }
    let page = UInt64(sqlite3_column_int64(statement, 0))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: (page - 1) * 4096)
    try file.write(contentsOf: Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 77) }))
    try dropCaches(handle)
  }

  /// Has whoever has the database open read its pages again.
  package static func dropCaches(of path: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw NotFound(table: "user_version")
    }
    sqlite3_busy_timeout(handle, 60_000)
    try dropCaches(handle)
  }

  /// Commits a change that changes nothing: whoever has the database open then reads its pages again.
  private static func dropCaches(_ handle: OpaquePointer?) throws {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(handle, "PRAGMA user_version", -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw NotFound(table: "user_version") }
    let version = sqlite3_column_int(statement, 0)
    sqlite3_reset(statement)
    guard sqlite3_exec(handle, "PRAGMA user_version = \(version)", nil, nil, nil) == SQLITE_OK else {
      throw NotFound(table: "user_version")
    }
  }
}

/// The store's file as somebody without the keys changes it.
package enum RawSQL {
  package struct Refused: Error { package let message: String }

  /// Runs statements, whatever constraints the tables have.
  ///
  /// - Returns: the rows of the last one that has some, as text.
  @discardableResult package static func run(_ sql: String, in path: String) throws -> [[String]] {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw Refused(message: "\(path) cannot be opened")
    }
    sqlite3_busy_timeout(handle, 60_000)
    sqlite3_exec(handle, "PRAGMA ignore_check_constraints = ON", nil, nil, nil)
    final class Rows { var rows: [[String]] = [] }
    let rows = Rows()
    let result = sqlite3_exec(
      handle, sql,
      { context, count, values, _ in
        guard let context else { return 1 }
        Unmanaged<Rows>.fromOpaque(context).takeUnretainedValue().rows.append(
          (0..<Int(count)).map { values?[$0].map { String(cString: $0) } ?? "" })
        return 0
      }, Unmanaged.passUnretained(rows).toOpaque(), nil)
    guard result == SQLITE_OK else { throw Refused(message: String(cString: sqlite3_errmsg(handle))) }
    return rows.rows
  }
}
