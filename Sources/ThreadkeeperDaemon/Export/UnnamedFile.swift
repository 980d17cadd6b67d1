// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An ordinary file without a name: it goes with whoever has it open, also when the daemon is killed. What is in it
/// is an export, sealed with the export's own passphrase.
final class UnnamedFile: Sendable {
  /// `__O_TMPFILE` of fcntl.h, which Swift's module of glibc does not have.
  private static let temporary: Int32 = 0o20_000_000 | O_DIRECTORY

  private let directory: String
  let descriptor: Int32
  /// From where `read` continues.
  private let offset = Mutex(0)

  /// - Throws: `KeychainError`: `diskFull`, `io`, …
  init(in directory: String) throws(KeychainError) {
    self.directory = directory
    let flags = O_RDWR | O_CLOEXEC | O_EXCL
    let unnamed = open(directory, Self.temporary | flags, 0o600)
    guard unnamed < 0 else {
      descriptor = unnamed
      return
    }
    guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) else {
      throw Self.failure("make", directory)
    }
    // A file system that makes none, as NFS.
    let name = "\(directory)/exchange-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    descriptor = open(name, O_CREAT | flags, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make", directory) }
    unlink(name)
  }

  /// Opens a file, and takes its name away.
  ///
  /// - Throws: `KeychainError`: `io`, …
  init(takingNameOf path: String) throws(KeychainError) {
    directory = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.failure("open", path) }
    unlink(path)
  }

  deinit { close(descriptor) }

  /// Bytes.
  func length() throws(KeychainError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure("read", directory) }
    return Int(status.st_size)
  }

  /// Adds bytes at the end.
  func append(_ bytes: Data) throws(KeychainError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("write", directory) }
      rest = rest.dropFirst(count)
    }
  }

  /// The next bytes, from the first of the file; nil at its end.
  func read(_ most: Int) throws(KeychainError) -> Data? {
    try offset.withLock { offset throws(KeychainError) -> Data? in
      var bytes = [UInt8](repeating: 0, count: most)
      var count = -1
      repeat {
        count = pread(descriptor, &bytes, most, off_t(offset))
      } while count < 0 && errno == EINTR
      guard count >= 0 else { throw Self.failure("read", directory) }
      offset += count
      return count == 0 ? nil : Data(bytes.prefix(count))
    }
  }

  private static func failure(_ what: String, _ directory: String) -> KeychainError {
    let code = errno
    return KeychainError(
      code == ENOSPC || code == EDQUOT ? .diskFull : .io,
      "can't \(what) a temporary file in \(directory): \(String(cString: strerror(code)))")
  }
}
