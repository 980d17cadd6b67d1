// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard input, for commands that take `-`.
package enum StandardInput {
  /// Reads to the end, but never more than one octet beyond the limit.
  ///
  /// - Parameter limit: octets that are enough for all sensible input.
  /// - Returns: the octets; `nil` when there are more than the limit. The rest is not read.
  /// - Throws: `CommandFailure` with status 66 when it can't be read.
  package static func read(limit: Int) throws(CommandFailure) -> [UInt8]? {
    var octets = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < octets.count {
      let count = octets[filled...].withUnsafeMutableBytes {
        Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count)
      }
      if count == 0 { return Array(octets.prefix(filled)) }
      if count > 0 {
        filled += count
      } else if errno == EAGAIN {
        waitUntilReadable()
      } else if errno != EINTR {
        let reason = String(cString: strerror(errno))
        throw CommandFailure(.noInput, "can't read standard input: \(reason)")
      }
    }
    return nil
  }

  /// A stream that is shared with other programs may be set not to block.
  private static func waitUntilReadable() {
    var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    _ = poll(&descriptor, 1, -1)
  }
}
