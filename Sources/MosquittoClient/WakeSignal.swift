// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A flag that a thread can wait for in `poll`: a pipe that holds at most one byte. (An eventfd
/// would do with one descriptor, but Swift's Glibc does not know it.)
final class WakeSignal: Sendable {
  /// Readable while raised; -1 when the system had no descriptor left.
  let descriptor: Int32
  private let writeEnd: Int32
  private let isRaised = Atomic(false)

  init() {
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

  func raise() {
    guard !isRaised.exchange(true, ordering: .sequentiallyConsistent) else { return }
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Lowers the flag. What was said before a `raise` is visible after this.
  func clear() {
    // Emptied first: a raise in between either finds the flag still up, and what it announces is
    // seen by the caller who looks after this, or it writes again.
    var byte: UInt8 = 0
    _ = read(descriptor, &byte, 1)
    isRaised.store(false, ordering: .sequentiallyConsistent)
  }
}
