// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file of an export in the making: `FILE.new` beside its place, for this user alone. Whoever forgets it
/// removes it.
package final class ExportDraft {
  package let path: String
  private let draft: String
  private let file: FileOctets
  private var isPlaced = false

  /// - Parameter isReplacing: whether a file of that name may go, once the new one is whole.
  /// - Throws: `duplicateItem` when there is such a file; `noSuchKeychain` where its directory is missing;
  ///   `writePermission`, `diskFull`, `io`.
  package init(_ path: String, replacing isReplacing: Bool) throws(KeychainError) {
    try Self.checkIsFree(path, replacing: isReplacing)
    self.path = path
    draft = path + ".new"
    file = try FileOctets(replacing: draft)
  }

  /// - Throws: `duplicateItem` when there is such a file, unless it may go.
  package static func checkIsFree(
    _ path: String, replacing isReplacing: Bool
  ) throws(KeychainError) {
    guard isReplacing || !StoreLocation.isThere(path) else {
      throw KeychainError(.duplicateItem, "there is a file \(path) already")
    }
  }

  deinit {
    if !isPlaced { unlink(draft) }
  }

  /// To be written by whoever has the items.
  package var descriptor: Int32 { file.descriptor }

  /// Gives it its name. It must be whole, and on the disk.
  package func place() throws(KeychainError) {
    guard rename(draft, path) == 0 else { throw .system("put in place", path: path) }
    isPlaced = true
    StoreLocation.syncDirectory(path.contains("/") ? StoreLocation.parent(of: path) : ".")
  }
}
