// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// glibc declares it for _GNU_SOURCE only, which Swift's module of it does not set. The flag 1 is
// RENAME_NOREPLACE, 2 is RENAME_EXCHANGE.
@_silgen_name("renameat2")
func renameat2(
  _: Int32, _: UnsafePointer<CChar>, _: Int32, _: UnsafePointer<CChar>, _: UInt32
) -> Int32

/// Where a store is put together before it takes the place of another one: a directory beside the
/// store's. The two are exchanged in one step of the file system, so that at every moment one whole
/// store is in place, with the log that belongs to it.
///
/// Only for who holds the store's lock.
struct StagingDirectory {
  let path: String
  private let target: StoreLocation

  /// Makes it, empty. What a killed restore has left goes.
  init(beside target: StoreLocation) throws(KeychainError) {
    self.target = target
    path = target.directory + ".restoring"
    try Self.remove(path)
    try StoreLocation.makeDirectory(path)
    try StoreLocation.checkDirectory(path)
  }

  /// The store in it. Its anchor lies in it too, and counts for nothing.
  var location: StoreLocation {
    StoreLocation(directory: path, anchorDirectory: path + "/anchor")
  }

  /// Puts it in the store's place; from here on it holds what was there.
  func exchange() throws(KeychainError) {
    StoreLocation.syncDirectory(path)
    guard renameat2(AT_FDCWD, path, AT_FDCWD, target.directory, 2) == 0 else {
      let code = errno
      let failed = KeychainError.system("put in place", path: target.directory, code: code)
      guard code == EBUSY || code == EXDEV || code == EINVAL || code == ENOSYS else { throw failed }
      throw KeychainError(
        .notAvailable,
        "\(failed.message): a mount point, or a file system that cannot exchange directories."
          + " Restore into a directory below it and name that in `store.path`")
    }
    StoreLocation.syncDirectory(StoreLocation.parent(of: path))
  }

  func remove() { try? Self.remove(path) }

  private static func remove(_ path: String) throws(KeychainError) {
    guard let directory = opendir(path) else {
      if errno == ENOENT { return }
      throw .system("look into", path: path)
    }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(path + "/" + name) }
    }
    closedir(directory)
    for name in names where unlink(name) != 0 {
      guard errno == EISDIR else { throw .system("remove", path: name) }
      try remove(name)
    }
    guard rmdir(path) == 0 else { throw .system("remove", path: path) }
  }
}
