// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension Keychain {
  /// Writes the file anew without what was deleted, and cuts the log. Needs its size once more on the
  /// disk. Killed meanwhile, the store is as it was.
  ///
  /// - Returns: the sizes of database and log together, in octets.
  /// - Throws: `notAvailable` when somebody reads, so that the log could not be cut: the store is
  ///   whole, and can be compacted again.
  @discardableResult
  package func compact() throws(KeychainError) -> (before: UInt64, after: UInt64) {
    guard access == .readWrite else {
      throw KeychainError(.readOnly, "the store is not open for this process alone")
    }
    try checkWritable()
    return try KeychainError.wrap("compacting the store") {
      let before = filesLength()
      try database.vacuum()
      state.withLock { $0.owesErasure = true }
      guard try eraseDeletedPages() else {
        throw KeychainError(
          .notAvailable, "somebody reads the store: compact it again when nobody does",
          isTemporary: true)
      }
      return (before, filesLength())
    }
  }

  /// Of the files by name: to open and close them would drop SQLite's locks.
  private func filesLength() -> UInt64 {
    (["", "-wal"].map { StoreLocation.length(of: location.databasePath + $0) }).reduce(0, +)
  }
}
