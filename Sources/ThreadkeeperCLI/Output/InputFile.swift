// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperDaemon

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
