// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A flag that a thread can wait for in `poll`: a pipe that has a byte in it while the flag is raised. It stays raised
/// until it is cleared. (An eventfd would do with one descriptor, but Swift's Glibc does not know it.)
package final class WakeSignal: Sendable {
  /// Readable while raised; -1 when the system had no descriptor left.
  package let descriptor: Int32
  private let writeEnd: Int32
  private let state = Mutex(false)

  package init() {
    var ends: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) {
      pipe($0.bindMemory(to: Int32.self).baseAddress)
    }
    (descriptor, writeEnd) = made == 0 ? ends : (-1, -1)
    for end in [descriptor, writeEnd] where end >= 0 {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    for end in [descriptor, writeEnd] where end >= 0 { close(end) }
  }

  package var isRaised: Bool { state.withLock { $0 } }

  package func raise() {
    state.withLock { isRaised in
      guard !isRaised else { return }
      isRaised = true
      var byte: UInt8 = 1
      _ = write(writeEnd, &byte, 1)
    }
  }

  /// What was written before a `raise` is visible after this.
  package func clear() {
    state.withLock { isRaised in
      guard isRaised else { return }
      isRaised = false
      var byte: UInt8 = 0
      _ = read(descriptor, &byte, 1)
    }
  }

  /// Returns when one of the signals is raised, or after the time.
  package static func wait(for signals: [WakeSignal], within limit: Duration) {
    var polled = signals.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), limit.pollMilliseconds)
  }
}

extension Duration {
  /// For `poll`: rounded up, at least 0.
  package var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 20 else { return Int32(1 << 30) }
    return max(0, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000) + 1)
  }
}
