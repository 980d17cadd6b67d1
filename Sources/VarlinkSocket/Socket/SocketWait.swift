// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits for a socket, but no longer than until a moment. A limit for each system call would be none: who
/// sends or takes a byte at a time stays below it for ever.
package enum SocketWait {
  /// Returns also when the other side has gone: the next call tells.
  ///
  /// - Parameters:
  ///   - events: of poll(2).
  ///   - deadline: nil: without an end.
  package static func wait(
    for events: Int32, on socket: Int32, until deadline: ContinuousClock.Instant?
  ) throws(SocketError) {
    while true {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { throw .timedOut }
      var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
      let ready = poll(&entry, 1, left.map(milliseconds) ?? -1)
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw .system("poll", "the connection") }
    }
  }

  /// Rounded up, so that it does not turn in a circle at the end.
  static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
