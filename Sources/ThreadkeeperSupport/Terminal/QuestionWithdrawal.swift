// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Takes a question back whose answer is needed no more; from any thread, and for good.
package final class QuestionWithdrawal: Sendable {
  /// Milliseconds between two looks where nothing would wake who waits.
  private static let pause: Int32 = 250

  /// Readable once it is taken back; below zero where the system has none to give.
  let descriptor: Int32
  private let other: Int32
  private let flag = Atomic(false)

  package init() {
    var ends: [Int32] = [-1, -1]
    // Sockets, because a pipe cannot be had that is closed on exec from its beginning: another thread
    // may start a program at any time.
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    #else
      let kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
    #endif
    if socketpair(AF_UNIX, kind, 0, &ends) != 0 { ends = [-1, -1] }
    (descriptor, other) = (ends[0], ends[1])
  }

  deinit { for end in [descriptor, other] where end >= 0 { close(end) } }

  package func withdraw() {
    flag.store(true, ordering: .releasing)
    if other >= 0 { shutdown(other, Int32(SHUT_RDWR)) }
  }

  package var isWithdrawn: Bool { flag.load(ordering: .acquiring) }

  /// How long a single `poll` may wait, with the descriptor among what it waits for.
  func capped(_ milliseconds: Int32) -> Int32 {
    descriptor >= 0 ? milliseconds : min(milliseconds, Self.pause)
  }

  /// Waits for it. It may return before the time is over.
  ///
  /// - Returns: whether it was taken back.
  package func waits(atMost milliseconds: Int32) -> Bool {
    guard !isWithdrawn else { return true }
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&ready, 1, capped(milliseconds))
    return isWithdrawn
  }
}
