// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads a file of hostapd again when it has changed: another file under the name, another time or another size.
struct HostapdFollower {
  private struct Version: Equatable {
    var device: dev_t
    var number: ino_t
    var size: off_t
    var seconds: Int
    var nanoseconds: Int
  }

  let path: String
  let bss: String?
  private var last: (version: Version, reading: SSIDReading)?

  init(path: String, bss: String?) {
    self.path = path
    self.bss = bss
  }

  /// - Throws: `SSIDTrouble`; then nothing is remembered.
  mutating func look() throws(SSIDTrouble) -> SSIDReading {
    // A named pipe would wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      last = nil
      throw .unreadable(file: path, code: errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= HostapdFile.mostBytes
    else { throw .notAFile(path) }
    let version = Version(
      device: status.st_dev, number: status.st_ino, size: status.st_size,
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    if let last, last.version == version { return last.reading }
    let reading = try HostapdFile(try read(descriptor)).reading(bss, of: path)
    last = (version, reading)
    return reading
  }

  private func read(_ descriptor: Int32) throws(SSIDTrouble) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= HostapdFile.mostBytes {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(file: path, code: errno) }
      if count == 0 { return bytes }
      bytes += part[..<count]
    }
    throw .notAFile(path)
  }
}
