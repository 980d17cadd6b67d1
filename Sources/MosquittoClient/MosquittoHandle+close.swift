// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A second hold on a connection, so that it can be closed in order after the library has let go.
///
/// Closing a socket with unread data resets the connection, and a broker that meets the reset may
/// drop what it has not read yet: acknowledgements, or the DISCONNECT, whereupon it would send the
/// last will. So: no more from us, take what still comes, wait for the broker's end.
struct LingeringSocket: ~Copyable {
  private let descriptor: Int32

  init(of socket: Int32) {
    descriptor = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Waits for the other side to have read all of it; not longer than `limit`.
  consuming func finish(within limit: Duration) {
    guard descriptor >= 0, shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return }
    let deadline = ContinuousClock.now + limit
    var waste = [UInt8](repeating: 0, count: 16_384)
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > .zero, poll(&poller, 1, left.milliseconds) > 0 else { return }
      let count = recv(descriptor, &waste, waste.count, Int32(MSG_DONTWAIT))
      guard count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)) else { return }
    }
  }
}
