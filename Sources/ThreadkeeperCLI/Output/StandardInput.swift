// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperDaemon

/// Standard input, for commands that take `-`.
package enum StandardInput {
  /// Reads to the end, but never more than one byte beyond the limit.
  ///
  /// - Parameter limit: bytes that are enough for all sensible input.
  /// - Returns: the bytes; `nil` when there are more than the limit. The rest is not read.
  /// - Throws: `CommandFailure` with status 66 when it can't be read.
  package static func read(limit: Int) throws(CommandFailure) -> [UInt8]? {
    try read(STDIN_FILENO, named: "standard input", limit: limit)
  }

  /// The same of what is open already.
  static func read(_ descriptor: Int32, named name: String, limit: Int) throws(CommandFailure)
    -> [UInt8]?
  {
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes[filled...].withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count == 0 { return Array(bytes.prefix(filled)) }
      if count > 0 {
        filled += count
      } else if errno == EAGAIN {
        waitUntilReadable(descriptor)
      } else if errno != EINTR {
        let reason = String(cString: strerror(errno))
        throw CommandFailure(.noInput, "can't read \(name): \(reason)")
      }
    }
    return nil
  }

  /// A stream that is shared with other programs may be set not to block.
  private static func waitUntilReadable(_ descriptor: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, -1)
  }
}

/// A file that somebody names on the command line, so that what is in it need not stand there.
enum InputFile {
  /// Reads to the end, but never more than one byte beyond the limit. A pipe will do.
  ///
  /// - Returns: the bytes; `nil` when there are more than the limit.
  /// - Throws: `CommandFailure` with status 66 when it can't be read.
  static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.noInput, "can't read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try StandardInput.read(descriptor, named: path, limit: limit)
  }
}
