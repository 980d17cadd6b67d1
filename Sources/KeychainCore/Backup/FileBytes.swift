// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file, read and written in pieces.
package final class FileBytes: Sendable {
  static let pieceLength = 1 << 20

  let path: String
  let descriptor: Int32

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
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw KeychainError(.param, "\(path) is no ordinary file")
    }
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
      let piece = try read(at: offset, count: min(Self.pieceLength, length - offset))
      try body(piece, offset)
      offset += piece.count
    }
  }

  /// Syncs it to the disk.
  package func sync() throws(KeychainError) {
    guard fsync(descriptor) == 0 else { throw .system("write", path: path) }
  }
}
