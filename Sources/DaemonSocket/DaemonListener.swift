// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The daemon's end: a socket in its store's directory, where commands bring what only the process
/// with the store's lock can do.
///
/// It serves this user and root, by what the kernel says of them. One request and one answer for
/// each connection.
package final class DaemonListener: Sendable {
  /// Gets a request, and the connection to see whether somebody still waits; returns the answer.
  package typealias Handler = @Sendable ([UInt8], DaemonConnection) async -> [UInt8]

  /// Callers at a time. A home has one.
  private static let places = 16

  private let path: String
  private let patience: Int
  private let handler: Handler
  private let queue = DispatchQueue(label: "threadkeeper.socket")
  private let source = Mutex<(any DispatchSourceRead)?>(nil)
  private let busy = Mutex(0)

  /// Listens from now on. What an earlier process left under that name is removed: the caller must
  /// know, by a lock, that it is no other's.
  ///
  /// - Parameter patience: seconds that a caller may take to send its request.
  package init(
    path: String, patience: Int = 5, handler: @escaping Handler
  ) throws(DaemonSocketError) {
    self.path = path
    self.patience = patience
    self.handler = handler
    let descriptor = try Self.listen(path)
    source.withLock {
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler { [weak self] in self?.accept(descriptor) }
      source.setCancelHandler { close(descriptor) }
      source.resume()
      $0 = source
    }
  }

  deinit { stop() }

  /// Takes no more calls. Those that came are answered.
  package func stop() {
    source.withLock {
      guard let source = $0 else { return }
      unlink(path)
      source.cancel()
      $0 = nil
    }
  }

  private static func listen(_ path: String) throws(DaemonSocketError) -> Int32 {
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    unlink(path)
    // On Linux the socket's own mode is what the name gets, so there is no moment with another.
    guard fchmod(descriptor, 0o600) == 0,
      address.withAddress({ bind(descriptor, $0, $1) }) == 0,
      Glibc.listen(descriptor, 16) == 0,
      fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else {
      let code = errno
      close(descriptor)
      throw .system("listen", path, code)
    }
    return descriptor
  }

  private func accept(_ listener: Int32) {
    let descriptor = Glibc.accept(listener, nil, nil)
    guard descriptor >= 0 else { return }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard let connection = try? DaemonConnection(descriptor),
      connection.peer.user == geteuid() || connection.peer.user == 0,
      busy.withLock({ busy in
        guard busy < Self.places else { return false }
        busy += 1
        return true
      })
    else { return }
    // A thread of the system's: whoever calls and says nothing must not hold one of Swift's.
    DispatchQueue.global().async { [self] in
      connection.wait(atMost: patience)
      guard let request = try? connection.receive() else { return free() }
      Task {
        let answer = await handler(request, connection)
        // Who has gone meanwhile has no use for it.
        try? connection.send(answer)
        free()
      }
    }
  }

  private func free() { busy.withLock { $0 -= 1 } }
}
