// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A regular file, open for reading.
struct OpenFile: ~Copyable {
  let descriptor: Int32
  /// Whether every user of the machine may read it.
  let isReadableByOthers: Bool

  /// What to say of a secret that is.
  static let openToOthers =
    "may be read by every user of this machine; chmod o-rwx takes the right away"

  init(_ path: String) throws(FileFailure) {
    // A pipe without a writer must not hold up the start: hence non-blocking.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileFailure(errno) }
    var status = stat()
    let failure: FileFailure? =
      if fstat(descriptor, &status) != 0 {
        FileFailure(errno)
      } else if status.st_mode & S_IFMT != S_IFREG {
        FileFailure(reason: "is not a file")
      } else {
        nil
      }
    if let failure {
      close(descriptor)
      throw failure
    }
    self.descriptor = descriptor
    isReadableByOthers = status.st_mode & S_IROTH != 0
  }

  deinit {
    close(descriptor)
  }

  /// The whole content; refused past the limit, in bytes.
  func content(upTo limit: Int) throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(errno) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    throw FileFailure(reason: "is larger than \(limit / 1024) KiB")
  }
}
