// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file, read and written in pieces.
final class FileBytes {
  let path: String
  let descriptor: Int32

  /// An existing file, for reading and perhaps for writing.
  init(_ path: String, forWriting: Bool = false) throws(KeychainError) {
    self.path = path
    descriptor = open(path, (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", path: path) }
  }

  /// A file that somebody else opened. The descriptor stays theirs.
  init(_ path: String, openAs descriptor: Int32) throws(KeychainError) {
    self.path = path
    self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard self.descriptor >= 0 else { throw .system("use", path: path) }
  }

  /// A new, empty file for this user alone. What has that name is a leftover, and goes.
  init(replacing path: String) throws(KeychainError) {
    self.path = path
    guard unlink(path) == 0 || errno == ENOENT else { throw .system("replace", path: path) }
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("make", path: path) }
  }

  deinit { close(descriptor) }

  /// Bytes. Only an ordinary file has a length.
  func length() throws(KeychainError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("look at", path: path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw KeychainError(.param, "\(path) is no ordinary file")
    }
    return Int(status.st_size)
  }

  func read(at offset: Int, count: Int) throws(KeychainError) -> [UInt8] {
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

  func write(_ bytes: [UInt8], at offset: Int) throws(KeychainError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes {
        pwrite(
          descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw .system("write", path: path) }
      done += written
    }
  }

  /// The first `length` bytes, piece by piece, with the offset of each.
  func forEachPiece(
    of length: Int, _ body: (_ piece: [UInt8], _ offset: Int) throws -> Void
  ) throws {
    var offset = 0
    while offset < length {
      let piece = try read(at: offset, count: min(BackupTag.pieceLength, length - offset))
      try body(piece, offset)
      offset += piece.count
    }
  }

  /// Makes it last.
  func sync() throws(KeychainError) {
    guard fsync(descriptor) == 0 else { throw .system("write", path: path) }
  }
}
