// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file of an export in the making: `FILE.new-` and a random number beside its place, for this user alone. So
/// two exports to one name do not meet before their end. Whoever forgets it removes it.
package final class ExportDraft {
  package let path: String
  private let draft: String
  private let file: FileBytes
  private let isReplacing: Bool
  private var isPlaced = false

  /// - Parameter isReplacing: whether a file of that name may go, once the new one is whole.
  /// - Throws: `duplicateItem` when there is such a file; `noSuchKeychain` where its directory is missing;
  ///   `writePermission`, `diskFull`, `io`.
  package init(_ path: String, replacing isReplacing: Bool) throws(KeychainError) {
    try Self.checkIsFree(path, replacing: isReplacing)
    self.path = path
    self.isReplacing = isReplacing
    draft = path + ".new-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    file = try FileBytes(replacing: draft)
  }

  /// - Throws: `duplicateItem` when there is such a file, unless it may go.
  package static func checkIsFree(
    _ path: String, replacing isReplacing: Bool
  ) throws(KeychainError) {
    guard isReplacing || !StoreLocation.isThere(path) else { throw isTaken(path) }
  }

  deinit {
    if !isPlaced, isStill { unlink(draft) }
  }

  /// To be written by whoever has the items.
  package var descriptor: Int32 { file.descriptor }

  /// Gives it its name. It must be whole, and on the disk.
  ///
  /// - Throws: `duplicateItem` when there is a file of that name by now, unless it may go; `notAvailable` when
  ///   somebody has taken the draft away.
  package func place() throws(KeychainError) {
    guard isStill else {
      throw KeychainError(.notAvailable, "somebody has removed or replaced \(draft): export again")
    }
    let code = isReplacing ? result(of: rename(draft, path)) : moveToFreeName()
    guard code != EEXIST else { throw Self.isTaken(path) }
    guard code == 0 else { throw .system("put in place", path: path, code: code) }
    isPlaced = true
    StoreLocation.syncDirectory(path.contains("/") ? StoreLocation.parent(of: path) : ".")
  }

  /// - Returns: 0 or an error's number, `EEXIST` when the name is taken.
  private func moveToFreeName() -> Int32 {
    let code = result(of: renameat2(AT_FDCWD, draft, AT_FDCWD, path, 1))
    guard code == EINVAL || code == ENOSYS else { return code }
    // A file system that cannot look and rename in one step, as NFS. A second name is never put over another file.
    let linked = result(of: link(draft, path))
    guard linked != 0 else {
      unlink(draft)
      return 0
    }
    guard linked == EPERM || linked == ENOSYS || linked == EOPNOTSUPP else { return linked }
    // It has no second names either. All that is left is to look just before.
    return StoreLocation.isThere(path) ? EEXIST : result(of: rename(draft, path))
  }

  private func result(of call: Int32) -> Int32 { call == 0 ? 0 : errno }

  /// Whether the draft's name still leads to the file that is open.
  private var isStill: Bool {
    var (own, named) = (stat(), stat())
    return fstat(file.descriptor, &own) == 0 && lstat(draft, &named) == 0
      && own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  private static func isTaken(_ path: String) -> KeychainError {
    KeychainError(.duplicateItem, "there is a file \(path) already")
  }
}
