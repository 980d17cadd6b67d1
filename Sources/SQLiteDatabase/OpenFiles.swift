// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files that a connection has open: others may be put in their place meanwhile, and SQLite would go
/// on writing to files that nobody finds again.
///
/// The log counts too: its commits are lost with it. It exists from the first transaction to the last
/// `close`, so it is remembered when it is first seen.
final class OpenFiles {
  private let path: String
  private var database: FileIdentity?
  private var log: FileIdentity?

  init(_ path: String) {
    self.path = path
    database = FileIdentity(path)
  }

  /// Throws `moved` when other files, or none, are at the path now.
  func check() throws(SQLiteError) {
    try Self.check(path, against: &database)
    try Self.check(path + "-wal", against: &log)
  }

  private static func check(
    _ path: String, against known: inout FileIdentity?
  ) throws(SQLiteError) {
    let found = FileIdentity(path)
    known = known ?? found
    guard found != nil, found == known else {
      throw SQLiteError(
        kind: .moved, message: "\(path) was deleted or replaced while it was open")
    }
  }
}

/// Which file lies at a path.
private struct FileIdentity: Equatable {
  private let device: UInt64
  private let inode: UInt64

  /// Nil when there is no file, or it cannot be looked at.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
