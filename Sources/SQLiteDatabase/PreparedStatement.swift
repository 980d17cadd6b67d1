// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A compiled statement, finalized with this object.
final class PreparedStatement {
  let pointer: OpaquePointer
  var isInUse = true

  init(_ sql: StaticString, on handle: OpaquePointer) throws(SQLiteError) {
    var prepared: OpaquePointer?
    // Only an error of this call tells why it failed.
    errno = 0
    let result = sql.utf8Start.withMemoryRebound(to: CChar.self, capacity: sql.utf8CodeUnitCount) {
      sqlite3_prepare_v3(
        handle, $0, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    }
    guard result == SQLITE_OK, let prepared else {
      throw SQLiteError(result, on: handle, statement: "\(sql)")
    }
    pointer = prepared
  }

  deinit { sqlite3_finalize(pointer) }
}
