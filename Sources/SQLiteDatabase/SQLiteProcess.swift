// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

/// What holds for all of SQLite in this process.
package enum SQLiteProcess {
  /// Ends the counting of every allocation, which takes a lock for each: an eighth of the time of a
  /// small statement. For a program that has SQLite to itself; only before the first database is
  /// opened, later it does nothing.
  package static func endMemoryStatistics() {
    _ = threadkeeper_sqlite3_config_memory_statistics(0)
  }
}
