// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Who holds a store.
package struct LockHolder: Equatable, Sendable, CustomStringConvertible {
  package let processID: Int32?
  package let program: String?

  package var description: String {
    switch (program, processID) {
    case (let program?, let processID?): "\(program), process \(processID)"
    default: "another process"
    }
  }
}

/// One writer at a time: a lock of the kernel (flock) that ends with the process that holds it,
/// on a file that says who that is.
package final class StoreLock: Sendable {
  private let descriptor: Int32

  /// Who holds the store now; nil when nobody does. To ask, it
  /// holds the lock for a moment itself: `init` waits for that.
  package static func holder(of location: StoreLocation) -> LockHolder? {
    let descriptor = open(location.lockPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let named = holder(descriptor)
    // A process that was killed leaves its name behind, and the name's number may be given again.
    guard let processID = named.processID, kill(processID, 0) == 0 || errno == EPERM,
      flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK
    else { return nil }
    return named
  }

  init(_ path: String) throws(KeychainError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open the lock file", path: path) }
    guard Self.lock(descriptor) else {
      let code = errno
      let holder = Self.holder(descriptor)
      close(descriptor)
      guard code == EWOULDBLOCK else {
        throw .system("lock", path: path, code: code)
      }
      throw KeychainError(
        .notAvailable,
        "the store is in use by \(holder) (\(path))",
        lockHolder: holder)
    }
    guard Self.isStill(descriptor, at: path) else {
      close(descriptor)
      throw KeychainError(
        .notAvailable, "the store was replaced while it was being opened: try again",
        isTemporary: true)
    }
    self.descriptor = descriptor
    let words = Array("\(getpid()) \(Self.programName)\n".utf8)
    // Who reads it is told who holds the lock; without it, the lock holds just the same.
    if ftruncate(descriptor, 0) == 0 {
      _ = words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
  }

  /// Tries for some milliseconds: somebody may just be asking who holds it.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<10 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      guard errno == EWOULDBLOCK else { return false }
      usleep(2_000)
    }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  /// False when the directory was exchanged for another while this waited: then the lock is on a file
  /// that is gone.
  private static func isStill(_ descriptor: Int32, at path: String) -> Bool {
    var (opened, found) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && lstat(path, &found) == 0
      && opened.st_ino == found.st_ino && opened.st_dev == found.st_dev
  }

  deinit {
    _ = ftruncate(descriptor, 0)
    // A child that is just being started may hold a copy of the descriptor until it has its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func holder(_ descriptor: Int32) -> LockHolder {
    let text = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { memory in
      let count = pread(descriptor, memory.baseAddress, memory.count, 0)
      return String(decoding: memory.prefix(max(count, 0)), as: UTF8.self)
    }
    let parts = text.prefix { $0 != "\n" }.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let processID = Int32(parts[0]) else {
      return LockHolder(processID: nil, program: nil)
    }
    return LockHolder(processID: processID, program: String(parts[1]))
  }

  private static var programName: String {
    let path = CommandLine.arguments.first ?? "unknown"
    return String(path.split(separator: "/").last ?? "unknown")
  }
}
