// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StoreLocation {
  /// Whether a file with the store's name can be seen.
  var hasStore: Bool { Self.isThere(databasePath) }

  /// Whether there is a store, for whoever would go on without one: a store that is out of reach, or
  /// that somebody took away, is not the same as none.
  ///
  /// - Throws: `notAvailable` when that cannot be seen, `noSuchKeychain` when there was a store.
  package func holdsStore() throws(KeychainError) -> Bool {
    if try Self.hasName(databasePath) { return true }
    guard let trace = try trace() else { return false }
    // Another process may have made it just now.
    if try Self.hasName(databasePath) { return true }
    throw KeychainError(
      .noSuchKeychain,
      "there is no store at \(databasePath) any more, and \(trace) is left of it: put the store back,"
        + " or remove that too to start with a new store")
  }

  /// What only a store leaves behind in which something was stored.
  private func trace() throws(KeychainError) -> String? {
    for path in logPaths where try Self.hasName(path) { return path }
    guard let directory = opendir(anchorDirectory) else {
      guard errno == ENOENT || errno == ENOTDIR else { throw Self.outOfReach(anchorDirectory) }
      return nil
    }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
          String(cString: $0)
        }
      }
      guard name.hasSuffix(".anchor") else { continue }
      let path = anchorDirectory + "/" + name
      switch Anchor(path: path).read() {
      // Written before the store is put in place: a crash may have come between.
      case .missing, .generation(...1): continue
      case .generation, .unreadable: return path
      }
    }
    return nil
  }

  private static func hasName(_ path: String) throws(KeychainError) -> Bool {
    var status = stat()
    if lstat(path, &status) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw outOfReach(path) }
    return false
  }

  private static func outOfReach(_ path: String) -> KeychainError {
    let reason = String(cString: strerror(errno))
    return KeychainError(
      .notAvailable, "whether there is a store at \(path) cannot be seen: \(reason)")
  }
}
