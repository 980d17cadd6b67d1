// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

extension SQLiteDatabase {
  /// Gives back the pages that the connections keep in memory: they are read again from the file when
  /// they are needed. For when nothing has been written for a while.
  ///
  /// The C library would keep what is free, tens of megabytes after a burst of work: it gives that back too.
  package func releaseMemory() throws {
    if let writer { try lock.withLock { writer.releaseMemory() } }
    try readers.releaseMemory()
    threadkeeper_give_back_free_memory()
  }
}

extension SQLiteConnection {
  /// As much as is not in use (sqlite3_db_release_memory).
  func releaseMemory() {
    if let handle { sqlite3_db_release_memory(handle) }
  }
}
