// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A client's end of a connection. `send` and `receive` wait in system calls: they are for threads of their own.
final class ClientConnection: Sendable {
  private let limit: Int
  /// Nil when it is closed.
  private let socket: Mutex<Int32?>
  /// Held by the thread that reads.
  private let frames: Mutex<VarlinkFrames>

  init(_ socket: Int32, limit: Int) {
    self.limit = limit
    self.socket = Mutex(socket)
    frames = Mutex(VarlinkFrames(limit: limit))
  }

  deinit {
    if let socket = socket.withLock({ $0 }) { close(socket) }
  }

  /// Ends all waiting, and the connection with it; from any thread.
  func abort() {
    socket.withLock {
      if let socket = $0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// - Throws: `SocketError`: `tooLarge`, `closed`, `timedOut`, `system`.
  func send(_ message: [UInt8], by deadline: ContinuousClock.Instant) throws(SocketError) {
    guard message.count <= limit else { throw VarlinkFrames.tooLarge(limit) }
    let socket = try openSocket()
    var rest = (message + [0])[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try SocketWait.wait(for: Int32(POLLOUT), on: socket, until: deadline)
      } else if errno != EINTR {
        throw Self.failure()
      }
    }
  }

  /// - Parameter deadline: nil: it waits for as long as the connection lasts.
  /// - Throws: `SocketError`: `tooLarge`, `closed`, `timedOut`, `system`.
  func receive(by deadline: ContinuousClock.Instant?) throws(SocketError) -> [UInt8] {
    let socket = try openSocket()
    return try frames.withLock { frames throws(SocketError) -> [UInt8] in
      var room = [UInt8](repeating: 0, count: 16 << 10)
      while true {
        if let message = try frames.next() { return message }
        let count = recv(socket, &room, room.count, Int32(MSG_DONTWAIT))
        if count > 0 {
          frames.append(room.prefix(count))
        } else if count == 0 {
          throw .closed
        } else if errno == EAGAIN {
          try SocketWait.wait(for: Int32(POLLIN), on: socket, until: deadline)
        } else if errno != EINTR {
          throw Self.failure()
        }
      }
    }
  }

  private func openSocket() throws(SocketError) -> Int32 {
    guard let socket = socket.withLock({ $0 }) else { throw .closed }
    return socket
  }

  private static func failure() -> SocketError {
    errno == EPIPE || errno == ECONNRESET ? .closed : .system("the socket", "the connection")
  }
}
