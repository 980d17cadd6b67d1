// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

struct StoreCompaction {
  let access: Keychain.Access
  let database: SQLiteDatabase
  let health: StoreHealth
  let erasure: LogErasure
  let databasePath: String

  /// Rewrites the file without what was deleted, and cuts the log. Needs its size once more on the
  /// disk. Killed meanwhile, the store is as it was.
  ///
  /// - Returns: the sizes of database and log together, in bytes.
  /// - Throws: `notAvailable` when somebody reads, so that the log could not be cut: the store is
  ///   whole, and can be compacted again.
  func run() throws(KeychainError) -> (before: UInt64, after: UInt64) {
    guard access == .readWrite else {
      throw KeychainError(.readOnly, "the store is not open for this process alone")
    }
    try health.checkWritable()
    return try KeychainError.wrap("compacting the store") {
      let before = filesLength()
      try database.vacuum()
      erasure.owe()
      guard try erasure.run() else {
        throw KeychainError(
          .notAvailable, "somebody reads the store: compact it again when nobody does",
          isTemporary: true)
      }
      return (before, filesLength())
    }
  }

  /// Of the files by name: to open and close them would drop SQLite's locks.
  private func filesLength() -> UInt64 {
    (["", "-wal"].map { StoreLocation.length(of: databasePath + $0) }).reduce(0, +)
  }
}
