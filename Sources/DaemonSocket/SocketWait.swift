// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits for a socket, but no longer than until a moment. A limit for each system call would be none: who
/// sends or takes an octet at a time stays below it for ever.
enum SocketWait {
  /// Returns also when the other side has gone: the next call tells.
  ///
  /// - Parameter events: of poll(2).
  static func wait(
    for events: Int32, on socket: Int32, until deadline: ContinuousClock.Instant
  ) throws(DaemonSocketError) {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { throw .timedOut }
      var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
      let ready = poll(&entry, 1, milliseconds(left))
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw .system("poll", "the connection") }
    }
  }

  /// Rounded up, so that it does not turn in a circle at the end.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
