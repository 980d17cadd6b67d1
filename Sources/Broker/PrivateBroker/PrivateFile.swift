// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperSupport

/// Files that only their owner may read.
enum PrivateFile {
  /// Writes a whole file with mode 0600. A reader sees the old or the new text, never a part.
  static func write(_ text: String, to path: String) throws(EmbeddedBrokerError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file(temporary, "write", errno) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let code = errno
        close(descriptor)
        throw .file(temporary, "write", code)
      }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
    guard rename(temporary, path) == 0 else { throw .file(path, "write", errno) }
  }

  /// The text of a file, or its last `limit` bytes; nil when it can't be read.
  static func read(_ path: String, last limit: Int = 1 << 22) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Files of the kernel have no size and no end to seek to; there this does nothing.
    if lseek(descriptor, 0, SEEK_END) > limit {
      lseek(descriptor, -limit, SEEK_END)
    } else {
      lseek(descriptor, 0, SEEK_SET)
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Makes a directory with mode 0700; one that is there already must be this user's and gets that mode.
  static func makeDirectory(_ path: String) throws(EmbeddedBrokerError) {
    if mkdir(path, 0o700) == 0 { return }
    guard errno == EEXIST else { throw .file(path, "make the directory", errno) }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .file(path, "use the directory", ENOTDIR)
    }
    // Root could change the mode of another user's directory, and that user could still replace what is in it.
    guard status.st_uid == geteuid() else { throw .foreignDirectory(path, owner: status.st_uid) }
    guard chmod(path, 0o700) == 0 else { throw .file(path, "protect the directory", errno) }
  }

  /// Removes a file, or a directory with all that is in it. A link is removed, not followed.
  static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in DirectoryNames.list(path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
