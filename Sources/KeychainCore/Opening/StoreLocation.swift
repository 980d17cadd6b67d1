// SPDX-License-Identifier: Apache-2.0

/// Where a store lies.
package struct StoreLocation: Equatable, Sendable {
  /// The directory of the store's files; 0700, and nothing else belongs in it.
  package let directory: String
  /// Where the anchor lies: best on another file system, so that not both are rolled back at once.
  package let anchorDirectory: String

  /// The anchor's default is the directory `anchor` beside the store's.
  package init(directory: String, anchorDirectory: String? = nil) {
    let directory = Self.withoutTrailingSlash(directory)
    self.directory = directory
    self.anchorDirectory =
      anchorDirectory.map(Self.withoutTrailingSlash) ?? Self.parent(of: directory) + "/anchor"
  }

  package var databasePath: String { directory + "/store.sqlite3" }
  /// What SQLite keeps beside the database.
  var logPaths: [String] { ["-wal", "-shm", "-journal"].map { databasePath + $0 } }
  package var lockPath: String { directory + "/store.lock" }
  /// A store that is being made lies under this name until it is whole.
  var unfinishedPath: String { directory + "/store.sqlite3.unfinished" }

  /// A random key that stays on this machine: beside the store, and in no backup of it.
  package var deviceKeyPath: String { Self.parent(of: directory) + "/device.key" }

  func anchorPath(_ store: StoreID) -> String { anchorDirectory + "/\(store).anchor" }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "" : String(path[..<slash])
  }

  private static func withoutTrailingSlash(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}
