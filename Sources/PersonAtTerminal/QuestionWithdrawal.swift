// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Takes a question back whose answer is needed no more; from any thread, and for good.
package final class QuestionWithdrawal: Sendable {
  /// Readable once it is taken back; below zero where the system has none to give.
  let descriptor: Int32
  private let other: Int32

  package init() {
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
    (descriptor, other) = (ends[0], ends[1])
  }

  deinit { for end in [descriptor, other] where end >= 0 { close(end) } }

  package func withdraw() { _ = write(other, [0], 1) }

  var isWithdrawn: Bool { waits(atMost: 0) }

  /// Waits for it.
  ///
  /// - Returns: whether it was taken back.
  func waits(atMost milliseconds: Int32) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, milliseconds) > 0
  }
}
