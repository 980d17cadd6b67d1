import Glibc
import SQLiteDatabase
import SodiumCrypto
import ThreadkeeperSupport

/// A backup: a copy of the database in one file, with a trailer and a tag over every byte.
extension Keychain {
  /// Bytes that may be given along with a backup.
  package static let longestAttachment = 256 << 10

  /// Writes a copy of the store as it is now into one file, for this user alone. Others use the store
  /// meanwhile. Neither keys nor the device key are in it but sealed: to open it takes what opens the
  /// store now. It is whole and on the disk when this returns.
  ///
  /// - Parameters:
  ///   - attachment: sealed beside the copy; at most `longestAttachment` bytes.
  ///   - progress: gets the bytes that are written and about how many there will be; what it throws ends the backup.
  /// - Throws: `readOnly` for a store that is not what it should be; `param`, `diskFull`, `io`.
  package func backup(
    into draft: BackupDraft, with attachment: [UInt8] = [],
    progress: @escaping (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
  ) throws(KeychainError) -> BackupTrailer {
    guard attachment.count <= Self.longestAttachment else {
      throw KeychainError(.param, "more than \(Self.longestAttachment >> 10) KiB are to be given along with a backup")
    }
    if health.condition == .healthy { try verify(.manifest) }
    if case .readOnly(let reason) = health.condition {
      throw KeychainError(.readOnly, "a backup of this store would be worth nothing: \(reason)")
    }
    return try KeychainError.wrap("writing the backup") {
      let file = draft.file
      let total = try expectedLength()
      try database.copy(to: file.path) { try progress(UInt64((try? file.length()) ?? 0), total) }
      let trailer = try seal(file, attachment)
      try file.sync()
      return trailer
    }
  }

  private func expectedLength() throws -> UInt64 {
    try database.read { tx in
      func number(_ sql: StaticString) throws -> UInt64 { UInt64(clamping: try tx.first(sql) { $0.integer(0) } ?? 0) }
      let free = try number("PRAGMA freelist_count")
      return try (number("PRAGMA page_count") - free) * number("PRAGMA page_size")
    }
  }

  /// Appends the attachment and the trailer to a copy of the database.
  private func seal(_ file: FileBytes, _ attachment: [UInt8]) throws -> BackupTrailer {
    let copy = try SQLiteDatabase(path: file.path, access: .readOnly, options: options.ofDatabase)
    defer { copy.close() }
    return try copy.read { tx in
      let (counted, manifestKey) = try manifest.read(in: tx)
      let length = try file.length()
      let records = try tx.first("SELECT count(*) FROM records") { $0.integer(0) } ?? 0
      let trailer = BackupTrailer(
        store: storeID, generation: counted.generation, created: options.now(), databaseLength: UInt64(length),
        records: UInt32(clamping: records), items: counted.items,
        attachmentLength: attachment.isEmpty ? 0 : UInt64(attachment.count + BackupAttachment.overhead))
      let key = try keys.key(manifestKey.seal.id, in: tx)
      var tag = try BackupTag(key, in: keys.arena)
      try file.forEachPiece(of: length) { piece, _ in try tag.add(piece) }
      var end: [UInt8] = []
      if !attachment.isEmpty {
        end = try BackupAttachment(key, in: keys.arena).seal(attachment, of: trailer)
        try tag.add(end)
      }
      try tag.add(trailer.bytes)
      try file.write(end + trailer.bytes + tag.value, at: length)
      return trailer
    }
  }
}

/// The file of a backup in the making: `FILE.new-` and a random number beside its place, for this user alone. So
/// two backups to one name do not meet before their end. Whoever forgets it takes its name away.
package final class BackupDraft {
  package let file: FileBytes
  private let path: String
  private let isReplacing: Bool
  private var isPlaced = false

  /// Between the file's name and the number.
  package static let suffix = ".new-"

  /// - Parameter isReplacing: whether a file of that name may go, once the new one is whole.
  /// - Throws: `duplicateItem` when there is such a file; `noSuchKeychain` where its directory is missing;
  ///   `writePermission`, `diskFull`, `io`.
  package init(_ path: String, replacing isReplacing: Bool) throws(KeychainError) {
    try Self.checkIsFree(path, replacing: isReplacing)
    self.path = path
    self.isReplacing = isReplacing
    file = try FileBytes(replacing: path + Self.suffix + String(UInt64.random(in: 0 ... .max), radix: 16))
  }

  /// - Throws: `duplicateItem` when there is such a file, unless it may go.
  package static func checkIsFree(_ path: String, replacing isReplacing: Bool) throws(KeychainError) {
    guard isReplacing || !StoreLocation.isThere(path) else { throw isTaken(path) }
  }

  deinit { if !isPlaced, isStill { unlink(file.path) } }

  /// Gives it its name. It must be whole, and on the disk.
  ///
  /// - Throws: `duplicateItem` when there is a file of that name by now, unless it may go; `notAvailable` when
  ///   somebody has taken the draft away.
  package func place() throws(KeychainError) {
    guard isStill else {
      throw KeychainError(.notAvailable, "somebody has removed or replaced \(file.path): try again")
    }
    let code = isReplacing ? result(of: rename(file.path, path)) : moveToFreeName()
    guard code != EEXIST else { throw Self.isTaken(path) }
    guard code == 0 else { throw .system("put in place", path: path, code: code) }
    isPlaced = true
    FilePath.syncDirectory(FilePath.directory(of: path))
  }

  /// - Returns: 0 or an error's number, `EEXIST` when the name is taken.
  private func moveToFreeName() -> Int32 {
    let code = result(of: renameat2(AT_FDCWD, file.path, AT_FDCWD, path, 1))
    guard code == EINVAL || code == ENOSYS else { return code }
    // A file system that cannot look and rename in one step, as NFS. A second name is never put over another file.
    let linked = result(of: link(file.path, path))
    guard linked != 0 else {
      unlink(file.path)
      return 0
    }
    guard linked == EPERM || linked == ENOSYS || linked == EOPNOTSUPP else { return linked }
    // It has no second names either. All that is left is to look just before.
    return StoreLocation.isThere(path) ? EEXIST : result(of: rename(file.path, path))
  }

  private func result(of call: Int32) -> Int32 { call == 0 ? 0 : errno }

  /// Whether the draft's name still leads to the file that is open.
  private var isStill: Bool {
    var (own, named) = (stat(), stat())
    return fstat(file.descriptor, &own) == 0 && lstat(file.path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino
  }

  private static func isTaken(_ path: String) -> KeychainError {
    KeychainError(.duplicateItem, "there is a file \(path) already")
  }
}
