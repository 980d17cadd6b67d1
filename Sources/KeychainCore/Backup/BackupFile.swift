// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A backup that lies there.
struct BackupFile {
  let trailer: BackupTrailer
  private let file: FileBytes
  private let tag: [UInt8]
  private let databaseLength: Int

  init(_ path: String) throws(KeychainError) {
    file = try FileBytes(path)
    let length = try file.length()
    guard length > BackupTrailer.length + BackupTag.length else {
      throw KeychainError(.decode, "\(path) is no backup of a threadkeeper store")
    }
    databaseLength = length - Self.endLength
    let end = try file.read(at: databaseLength, count: Self.endLength)
    trailer = try BackupTrailer(decoding: Array(end.dropLast(BackupTag.length)), path: path)
    guard trailer.databaseLength == UInt64(databaseLength) else {
      throw KeychainError(.decode, "\(path) is damaged: it does not have the length that it names")
    }
    tag = Array(end.suffix(BackupTag.length))
  }

  private static let endLength = BackupTrailer.length + BackupTag.length

  /// Copies the database in it.
  func copy(to path: String, progress: (_ done: UInt64, _ total: UInt64) -> Void) throws {
    let copy = try FileBytes(replacing: path)
    try file.forEachPiece(of: databaseLength) { piece, offset in
      try copy.write(piece, at: offset)
      progress(UInt64(offset + piece.count), trailer.databaseLength)
    }
  }

  /// Compares every byte of the file with its tag, and opens every item of `store`, which is its
  /// copy. Returns how many items could not be tried.
  func verify(with store: Keychain) throws -> Int {
    let (manifest, key) = try store.database.read { tx in
      let (manifest, id) = try store.manifest.read(in: tx)
      return (manifest, try store.keys.key(id.id, in: tx))
    }
    var found = try BackupTag(key, in: store.keys.arena)
    try file.forEachPiece(of: databaseLength) { piece, _ in try found.add(piece) }
    try found.add(trailer.bytes)
    guard found.value == tag, trailer.store == store.storeID,
      trailer.generation == manifest.generation
    else { throw SodiumError.notAuthentic }
    let report = try store.verify(.everything)
    guard report.matchesManifest, report.isWhole, report.unreadable.isEmpty,
      store.condition == .healthy
    else { throw SodiumError.notAuthentic }
    return report.locked
  }

  /// What an error that was met in the copy says about the file.
  func refusal(_ error: any Error) -> KeychainError {
    let found =
      switch error {
      case let error as KeychainError: error
      case let error as SQLiteError: KeychainError(error, while: "verifying it")
      case let error as SodiumError: KeychainError(error, while: "verifying it")
      default: KeychainError(.internalError, "\(error)")
      }
    switch found.status {
    case .authFailed, .diskFull, .io, .notAvailable, .writePermission, .allocate:
      return KeychainError(
        found.status, "the backup \(file.path) is not restored: \(found.message)",
        isTemporary: found.isTemporary)
    default:
      return KeychainError(
        .decode,
        "the backup \(file.path) was altered or is damaged; the store is as it was. Found:"
          + " \(found.message)")
    }
  }
}
