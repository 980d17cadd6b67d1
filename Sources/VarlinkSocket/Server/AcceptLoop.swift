// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The thread of a server that takes connections.
final class AcceptLoop: Sendable {
  /// Microseconds in which no connection is taken after the system could not give one.
  private static let pause: UInt32 = 500_000

  private let path: String
  private let listener: Int32
  private let wakeup: Wakeup
  private let connections: ServerConnections
  private let onTrouble: @Sendable (SocketError) -> Void
  private let isStopped = Mutex(false)

  /// Takes the socket over, which `run` closes.
  init(
    path: String, listener: Int32, wakeup: Wakeup, connections: ServerConnections,
    onTrouble: @escaping @Sendable (SocketError) -> Void
  ) {
    self.path = path
    self.listener = listener
    self.wakeup = wakeup
    self.connections = connections
    self.onTrouble = onTrouble
  }

  /// From any thread.
  func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    unlink(path)
    wakeup.wake()
  }

  /// Waits in system calls until `stop`.
  func run() {
    while true {
      _ = wakeup.wait(for: Int16(POLLIN), on: listener, until: nil)
      guard !isStopped.withLock({ $0 }) else { break }
      let socket = accept(listener, nil, nil)
      if socket >= 0 {
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        connections.take(socket)
      } else if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) {
        onTrouble(.system("accept", path))
        // Without a pause it would be the same again at once, for as long as the trouble lasts.
        usleep(Self.pause)
      }
    }
    close(listener)
  }
}
