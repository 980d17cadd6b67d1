// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A backup: a copy of the database in one file, with a trailer and a tag over every byte.
struct StoreBackup {
  let database: SQLiteDatabase
  let manifest: ManifestStore
  let health: StoreHealth
  let verifier: StoreVerifier
  let options: KeychainOptions

  /// Writes a copy of the store as it is now into one file, for this user alone. Others use the store
  /// meanwhile. Neither keys nor the device key are in it but sealed: to open it takes what opens the
  /// store now.
  ///
  /// The file is there when it is whole and on the disk, and not before.
  ///
  /// - Parameters:
  ///   - isReplacing: whether a file of that name may go.
  ///   - progress: gets the bytes that are written and about how many there will be; what it throws ends the backup.
  /// - Throws: `duplicateItem` when there is such a file; `readOnly` for a store that is not what it
  ///   should be; `diskFull`, `io`.
  func write(
    to path: String, replacing isReplacing: Bool,
    progress: (_ done: UInt64, _ total: UInt64) throws -> Void
  ) throws(KeychainError) -> BackupTrailer {
    guard isReplacing || !StoreLocation.isThere(path) else {
      throw KeychainError(.duplicateItem, "there is a file \(path) already")
    }
    if health.condition == .healthy { try verifier.verify(.manifest) }
    if case .readOnly(let reason) = health.condition {
      throw KeychainError(
        .readOnly, "a backup of this store would be worth nothing: \(reason)")
    }
    return try KeychainError.wrap("writing the backup") {
      let draft = path + ".new"
      let file = try FileBytes(replacing: draft)
      do {
        let total = try expectedLength()
        try database.copy(to: draft) {
          try progress(UInt64((try? file.length()) ?? 0), total)
        }
        let trailer = try seal(file)
        try file.sync()
        guard rename(draft, path) == 0 else {
          throw KeychainError.system("put in place", path: path)
        }
        StoreLocation.syncDirectory(path.contains("/") ? StoreLocation.parent(of: path) : ".")
        return trailer
      } catch {
        unlink(draft)
        throw error
      }
    }
  }

  private func expectedLength() throws -> UInt64 {
    try database.read { tx in
      func number(_ sql: StaticString) throws -> UInt64 {
        UInt64(clamping: try tx.first(sql) { $0.integer(0) } ?? 0)
      }
      let free = try number("PRAGMA freelist_count")
      return try (number("PRAGMA page_count") - free) * number("PRAGMA page_size")
    }
  }

  /// Appends the trailer to a copy of the database.
  private func seal(_ file: FileBytes) throws -> BackupTrailer {
    var databaseOptions = SQLiteDatabase.Options()
    databaseOptions.vfs = options.vfs
    let copy = try SQLiteDatabase(path: file.path, access: .readOnly, options: databaseOptions)
    defer { copy.close() }
    return try copy.read { tx in
      let (counted, manifestKey) = try manifest.read(in: tx)
      let length = try file.length()
      let trailer = BackupTrailer(
        store: manifest.store, generation: counted.generation, created: options.now(),
        databaseLength: UInt64(length), items: counted.items)
      var tag = try BackupTag(manifest.keys.key(manifestKey.id, in: tx), in: manifest.keys.arena)
      try file.forEachPiece(of: length) { piece, _ in try tag.add(piece) }
      try tag.add(trailer.bytes)
      try file.write(trailer.bytes + tag.value, at: length)
      return trailer
    }
  }
}
