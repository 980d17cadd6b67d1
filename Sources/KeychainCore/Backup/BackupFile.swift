import Glibc
import SQLiteDatabase
import SodiumCrypto

/// An existing backup file: the database as SQLite copied it, sealed as it is, the attachment, the trailer, the tag.
package struct BackupFile {
  package let trailer: BackupTrailer
  private let file: FileBytes
  private let sealedAttachment: [UInt8]
  private let tag: [UInt8]
  private let databaseLength: Int

  package init(_ path: String) throws(KeychainError) {
    file = try FileBytes(path)
    let length = try file.length()
    guard length > BackupTrailer.length + BackupTag.length else {
      throw KeychainError(.decode, "\(path) is no backup of a threadkeeper store")
    }
    let end = try file.read(at: length - Self.endLength, count: Self.endLength)
    trailer = try BackupTrailer(decoding: Array(end.dropLast(BackupTag.length)), path: path)
    let attached = Int(clamping: trailer.attachmentLength)
    guard attached <= BackupAttachment.mostSealed, attached <= length - Self.endLength,
      trailer.databaseLength == UInt64(length - Self.endLength - attached)
    else { throw KeychainError(.decode, "\(path) is damaged: it does not have the length that it names") }
    databaseLength = length - Self.endLength - attached
    sealedAttachment = try file.read(at: databaseLength, count: attached)
    tag = Array(end.suffix(BackupTag.length))
  }

  private static let endLength = BackupTrailer.length + BackupTag.length

  /// Copies the database in it. Returns a hash of what was copied.
  func copy(to path: String, progress: (_ done: UInt64, _ total: UInt64) -> Void) throws -> [UInt8] {
    let copy = try FileBytes(replacing: path)
    var hash: [UInt8] = []
    try file.forEachPiece(of: databaseLength) { piece, offset in
      try copy.write(piece, at: offset)
      hash = try BLAKE2b.hash256(hash + piece)
      progress(UInt64(offset + piece.count), trailer.databaseLength)
    }
    return hash
  }

  /// Compares every byte of the file with its tag, and opens every item and record of `store`, which is its copy. What
  /// does not open was damaged when the backup was made: it stays as it is, and the rest is restored.
  ///
  /// - Parameter copied: the hash of what was copied: somebody may have written to the file since.
  /// - Returns: how many items could not be tried, and how many items and records do not open.
  func verify(with store: Keychain, copied: [UInt8]) throws -> (locked: Int, damaged: Int) {
    let (manifest, key) = try store.database.read { tx in
      let (manifest, id) = try store.manifest.read(in: tx)
      return (manifest, try store.keys.key(id.seal.id, in: tx))
    }
    var found = try BackupTag(key, in: store.keys.arena)
    var hash: [UInt8] = []
    try file.forEachPiece(of: databaseLength) { piece, _ in
      try found.add(piece)
      hash = try BLAKE2b.hash256(hash + piece)
    }
    if !sealedAttachment.isEmpty { try found.add(sealedAttachment) }
    try found.add(trailer.bytes)
    guard found.value == tag, hash == copied, trailer.store == store.storeID, trailer.generation == manifest.generation
    else { throw SodiumError.notAuthentic }
    let report = try store.verify(.everything)
    guard report.matchesManifest, report.isWhole, store.condition == .healthy else { throw SodiumError.notAuthentic }
    return (report.locked, report.unreadable.count + report.unreadableRecords.count)
  }

  /// What was given along, by the key of `store`, which is its copy.
  func attachment(with store: Keychain) throws -> [UInt8] {
    try store.database.read { tx in
      let (_, id) = try store.manifest.read(in: tx)
      return try BackupAttachment(store.keys.key(id.seal.id, in: tx), in: store.keys.arena).open(
        sealedAttachment, of: trailer)
    }
  }

  /// Does what looks at the copy: what is wrong with that is wrong with the file.
  func checking<R>(_ body: () throws -> R) throws -> R {
    do { return try KeychainError.wrap("verifying it", body) } catch { throw refusal(error) }
  }

  private func refusal(_ found: KeychainError) -> KeychainError {
    switch found.status {
    case .authFailed, .diskFull, .io, .notAvailable, .writePermission, .allocate:
      return KeychainError(
        found.status, "the backup \(file.path) is not restored: \(found.message)", isTemporary: found.isTemporary)
    default:
      return KeychainError(
        .decode,
        "the backup \(file.path) was altered or is damaged; the store is as it was. Found:" + " \(found.message)")
    }
  }
}

/// The end of a backup file, after the database and the attachment, and before the tag:
///
///     "TKBACKUP" | format 4 | records 4 | store 16 | generation 8 | time 8 | database's length 8 | items 8
///     attachment's length 8
///
/// 72 bytes. Numbers are big-endian, the time is microseconds since 1970.
package struct BackupTrailer: Equatable, Sendable {
  static let length = 72
  static let format: UInt32 = 2
  private static let magic = Array("TKBACKUP".utf8)

  package var store: StoreID
  package var generation: UInt64
  /// Microseconds since 1970.
  package var created: Int64
  /// Of the database, in bytes.
  package var databaseLength: UInt64
  package var records: UInt32
  package var items: UInt64
  /// Of what was given along, as it is sealed; 0 for nothing.
  package var attachmentLength: UInt64

  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.write(Self.format)
    bytes.write(records)
    bytes.write(store)
    bytes.write(generation)
    bytes.write(created)
    bytes.write(databaseLength)
    bytes.write(items)
    bytes.write(attachmentLength)
    return bytes
  }
}

extension BackupTrailer {
  /// - Throws: `decode` when this is the end of something else, `notAvailable` for a newer format.
  init(decoding bytes: [UInt8], path: String) throws(KeychainError) {
    guard bytes.count == Self.length, bytes.starts(with: Self.magic) else {
      throw KeychainError(.decode, "\(path) is no backup of a threadkeeper store, or it ends too early")
    }
    self = try KeychainError.wrap("reading a backup") {
      try bytes.withUnsafeBytes { bytes in
        var reader = RowReader(UnsafeRawBufferPointer(rebasing: bytes[Self.magic.count...]))
        let format: UInt32 = try reader.number()
        guard format == Self.format else {
          throw KeychainError(
            .notAvailable,
            "\(path) is a backup of format \(format), this program knows \(Self.format):" + " use the newer program")
        }
        let records: UInt32 = try reader.number()
        return Self(
          store: try reader.name(), generation: try reader.number(), created: try reader.number(),
          databaseLength: try reader.number(), records: records, items: try reader.number(),
          attachmentLength: try reader.number())
      }
    }
  }
}

/// What is given along with a backup, as its caller wrote it: `nonce 24 | ciphertext | tag 16`, bound to the trailer. The
/// key is subkey 4 of the manifest key (see `ManifestKey`).
struct BackupAttachment {
  static let overhead = XChaCha20Poly1305.nonceLength + XChaCha20Poly1305.tagLength
  static let mostSealed = Keychain.longestAttachment + overhead

  private let key: GuardedKey

  init(_ manifestKey: GuardedKey, in arena: KeyArena) throws {
    key = try arena.subkey(4, context: "tk-mani1", of: manifestKey)
  }

  /// - Parameter trailer: with the length that the result has.
  func seal(_ attachment: [UInt8], of trailer: BackupTrailer) throws -> [UInt8] {
    let nonce = RandomBytes.make(XChaCha20Poly1305.nonceLength)
    var sealed = [UInt8](repeating: 0, count: attachment.count + XChaCha20Poly1305.tagLength)
    try attachment.withUnsafeBytes { attachment in
      try trailer.bytes.withUnsafeBytes { trailer in
        try nonce.withUnsafeBytes { nonce in
          try key.withUnsafeBytes { key in
            try sealed.withUnsafeMutableBytes {
              try XChaCha20Poly1305.seal(attachment, additionalData: trailer, nonce: nonce, key: key, into: $0)
            }
          }
        }
      }
    }
    return nonce + sealed
  }

  /// Empty where nothing was given along.
  func open(_ sealed: [UInt8], of trailer: BackupTrailer) throws -> [UInt8] {
    guard !sealed.isEmpty else { return [] }
    guard sealed.count >= Self.overhead else { throw SodiumError.notAuthentic }
    var attachment = [UInt8](repeating: 0, count: sealed.count - Self.overhead)
    try sealed.withUnsafeBytes { sealed in
      let nonce = UnsafeRawBufferPointer(rebasing: sealed[..<XChaCha20Poly1305.nonceLength])
      let rest = UnsafeRawBufferPointer(rebasing: sealed[XChaCha20Poly1305.nonceLength...])
      try trailer.bytes.withUnsafeBytes { trailer in
        try key.withUnsafeBytes { key in
          try attachment.withUnsafeMutableBytes {
            try XChaCha20Poly1305.open(rest, additionalData: trailer, nonce: nonce, key: key, into: $0)
          }
        }
      }
    }
    return attachment
  }
}

/// The tag over a whole backup file, with the bridge's tables in plaintext: keyed BLAKE2b-256, piece after piece, each
/// with the tag of what came before it. The key is subkey 3 of the manifest key (see `ManifestKey`).
struct BackupTag {
  static let length = 32

  private let key: GuardedKey
  private(set) var value = [UInt8](repeating: 0, count: Self.length)

  init(_ manifestKey: GuardedKey, in arena: KeyArena) throws {
    key = try arena.subkey(3, context: "tk-mani1", of: manifestKey)
  }

  /// Goes on with the next piece: `FileBytes.pieceLength` bytes, the last one fewer.
  mutating func add(_ piece: some Collection<UInt8>) throws {
    value = try key.withUnsafeBytes { try BLAKE2b.hash(value + piece, key: $0, count: Self.length) }
  }
}

/// An open file, read and written in pieces.
package final class FileBytes: Sendable {
  static let pieceLength = 1 << 20

  let path: String
  package let descriptor: Int32

  /// An existing file, for reading.
  init(_ path: String) throws(KeychainError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", path: path) }
  }

  /// A new, empty file for this user alone. What has that name is a leftover, and goes.
  init(replacing path: String) throws(KeychainError) {
    self.path = path
    guard unlink(path) == 0 || errno == ENOENT else { throw .system("replace", path: path) }
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      let error = KeychainError.system("make", path: path)
      // A medium that is write-protected says nothing about the store.
      throw error.status == .readOnly ? KeychainError(.writePermission, error.message) : error
    }
  }

  deinit { close(descriptor) }

  /// Bytes. Only an ordinary file has a length.
  package func length() throws(KeychainError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("look at", path: path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw KeychainError(.param, "\(path) is no ordinary file") }
    return Int(status.st_size)
  }

  package func read(at offset: Int, count: Int) throws(KeychainError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .system("read", path: path) }
      guard read > 0 else { throw KeychainError(.decode, "\(path) ends too early") }
      done += read
    }
    return bytes
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(KeychainError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw .system("write", path: path) }
      done += written
    }
  }

  /// The first `length` bytes, piece by piece, with the offset of each.
  func forEachPiece(of length: Int, _ body: (_ piece: [UInt8], _ offset: Int) throws -> Void) throws {
    var offset = 0
    while offset < length {
      let piece = try read(at: offset, count: min(Self.pieceLength, length - offset))
      try body(piece, offset)
      offset += piece.count
    }
  }

  /// Syncs it to the disk.
  package func sync() throws(KeychainError) { guard fsync(descriptor) == 0 else { throw .system("write", path: path) } }
}
