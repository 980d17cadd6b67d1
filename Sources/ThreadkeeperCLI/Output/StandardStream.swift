// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperDaemon

/// Standard output and standard error, unbuffered: a full disk is an error here, not a loss.
package enum StandardStream: Int32, Sendable {
  case output = 1
  case error = 2

  /// Writes all of the text.
  ///
  /// - Throws: `CommandFailure` with status 74 when the stream takes no more.
  package func write(_ text: String) throws(CommandFailure) { try Self.write(text, to: rawValue) }

  /// The same to any descriptor.
  static func write(_ text: String, to descriptor: Int32) throws(CommandFailure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw CommandFailure(.inputOutput, "can't write: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Whether a person looks at it.
  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Columns of the terminal, 80 where it does not say; nil for files and pipes, which are not wrapped.
  package var columns: Int? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// A stream that is shared with other programs may be set not to block.
  private static func waitUntilWritable(_ descriptor: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&waiting, 1, -1)
  }
}
