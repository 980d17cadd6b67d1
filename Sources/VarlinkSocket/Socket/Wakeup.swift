// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

// Swift's module of glibc does not have sys/eventfd.h.
@_silgen_name("eventfd")
private func eventfd(_ count: UInt32, _ flags: Int32) -> Int32

/// Wakes a thread that waits in poll(2).
final class Wakeup: Sendable {
  /// EFD_CLOEXEC and EFD_NONBLOCK of sys/eventfd.h.
  private static let flags = O_CLOEXEC | O_NONBLOCK

  private let file: Mutex<Int32?>

  init() throws(SocketError) {
    let descriptor = eventfd(0, Self.flags)
    guard descriptor >= 0 else { throw .system("eventfd", "the connection") }
    file = Mutex(descriptor)
  }

  deinit { close() }

  /// From any thread; does nothing after `close`.
  func wake() {
    file.withLock {
      guard let descriptor = $0 else { return }
      var one: UInt64 = 1
      _ = write(descriptor, &one, 8)
    }
  }

  func close() {
    file.withLock {
      if let descriptor = $0 { Glibc.close(descriptor) }
      $0 = nil
    }
  }

  /// Waits for events on a socket, for the next wake-up, or for a moment. For one thread, not after `close`.
  ///
  /// - Parameters:
  ///   - events: of poll(2); nil: the socket is not looked at.
  ///   - deadline: nil: without an end.
  /// - Returns: the events of the socket; nil when the moment has come.
  func wait(
    for events: Int16?, on socket: Int32, until deadline: ContinuousClock.Instant?
  ) -> Int16? {
    let wakeup = file.withLock { $0 } ?? -1
    // A negative number is passed over.
    var entries = [
      pollfd(fd: events == nil ? -1 : socket, events: events ?? 0, revents: 0),
      pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { return nil }
      let ready = poll(&entries, 2, left.map(SocketWait.milliseconds) ?? -1)
      guard ready > 0 else { continue }
      if entries[1].revents != 0 {
        var count: UInt64 = 0
        _ = read(wakeup, &count, 8)
      }
      return entries[0].revents
    }
  }
}
