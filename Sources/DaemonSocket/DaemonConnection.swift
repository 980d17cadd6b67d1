// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// One connection between a command and the daemon. Whole messages go over it:
///
/// ```
/// length, 4 bytes, big-endian | that many bytes
/// ```
///
/// `send` and `receive` wait in system calls, so they are not for an executor's thread; nor is `close`.
package final class DaemonConnection: Sendable {
  /// The most bytes of one message: a password of 65,535 bytes fits, whatever JSON makes of it.
  package static let limit = 512 << 10

  package let peer: SocketPeer
  private let takesDescriptors: Bool
  private let state: Mutex<State>

  private struct State {
    /// Nil when it is closed.
    var socket: Int32?
    /// Open files that have come with messages.
    var passed: [Int32] = []
  }

  /// Takes the socket over.
  ///
  /// - Parameter takesDescriptors: whether open files may come with a message. Otherwise the message is
  ///   refused, and they go with the connection.
  init(_ socket: Int32, takesDescriptors: Bool = false) throws(DaemonSocketError) {
    guard let peer = SocketPeer(socket) else {
      let code = errno
      Glibc.close(socket)
      throw .system("getsockopt", "the connection", code)
    }
    self.peer = peer
    self.takesDescriptors = takesDescriptors
    state = Mutex(State(socket: socket))
  }

  deinit {
    for descriptor in takeOpenFiles() { Glibc.close(descriptor) }
  }

  /// Closes it, with all open files that have come over it. The other side chooses what it passes, and a
  /// socket may linger: see `PromptClose`.
  func close() { PromptClose.close(takeOpenFiles()) }

  private func takeOpenFiles() -> [Int32] {
    state.withLock { state in
      defer { state = State(socket: nil) }
      return state.passed + (state.socket.map { [$0] } ?? [])
    }
  }

  /// The open files that came with messages. They are closed with the connection.
  package var passed: [Int32] { state.withLock { $0.passed } }

  /// Whether the other side has gone: nobody waits for an answer then. One that has ended its own
  /// half still waits. One that goes on speaking after its request counts as gone: there is one request
  /// for each connection.
  package var isGone: Bool {
    state.withLock { state in
      guard let socket = state.socket else { return true }
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else { return false }
      // POLLHUP is the end of both halves, whatever lies unread. The end of one is an end to read.
      let ends = Int32(POLLHUP) | Int32(POLLERR) | Int32(POLLNVAL)
      return Int32(entry.revents) & ends != 0 || Self.hasBytes(socket)
    }
  }

  private static func hasBytes(_ socket: Int32) -> Bool {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }

  /// Ends all waiting; from any thread.
  func abort() {
    state.withLock {
      if let socket = $0.socket { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Takes no more than what has come already, and waits for nothing else; from any thread.
  func endReading() {
    state.withLock {
      if let socket = $0.socket { shutdown(socket, Int32(SHUT_RD)) }
    }
  }

  /// - Parameters:
  ///   - descriptors: open files for the other side, at most `PassedDescriptors.limit`.
  ///   - deadline: of the whole message; what the other side has room for goes out in any case.
  func send(
    _ message: [UInt8], passing descriptors: [Int32] = [], by deadline: ContinuousClock.Instant
  ) throws(DaemonSocketError) {
    guard message.count <= Self.limit else {
      throw DaemonSocketError(.tooLarge, "a message of \(message.count) bytes is too large")
    }
    let socket = try openSocket()
    let length = UInt32(message.count)
    var rest = ([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message)[...]
    var passing = descriptors
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { rest in
        passing.isEmpty
          ? Glibc.send(
            socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
          : PassedDescriptors.send(rest, passing, to: socket)
      }
      if count > 0 {
        // They go with the first byte.
        passing = []
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try SocketWait.wait(for: Int32(POLLOUT), on: socket, until: deadline)
      } else if errno != EINTR {
        throw failure()
      }
    }
  }

  /// - Parameter deadline: of the whole message.
  func receive(by deadline: ContinuousClock.Instant) throws(DaemonSocketError) -> [UInt8] {
    let length = try receive(4, by: deadline).reduce(0) { $0 << 8 | Int($1) }
    guard length <= Self.limit else {
      throw DaemonSocketError(.tooLarge, "a message of \(length) bytes is too large")
    }
    return try receive(length, by: deadline)
  }

  /// The same, from a side that has one message to send and no more.
  ///
  /// - Throws: also `malformed` when more has come with it.
  func receiveOnly(by deadline: ContinuousClock.Instant) throws(DaemonSocketError) -> [UInt8] {
    let message = try receive(by: deadline)
    guard !Self.hasBytes(try openSocket()) else {
      throw DaemonSocketError(.malformed, "there are bytes after the end of the message")
    }
    return message
  }

  private func receive(
    _ count: Int, by deadline: ContinuousClock.Instant
  ) throws(DaemonSocketError) -> [UInt8] {
    let socket = try openSocket()
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let part = bytes[filled...].withUnsafeMutableBytes {
        PassedDescriptors.receive(into: $0, from: socket, takesThem: takesDescriptors)
      }
      try keep(part)
      if part.count > 0 {
        filled += part.count
      } else if part.count == 0 {
        throw .closed
      } else if errno == EAGAIN {
        try SocketWait.wait(for: Int32(POLLIN), on: socket, until: deadline)
      } else if errno != EINTR {
        throw failure()
      }
    }
    return bytes
  }

  private func keep(_ part: PassedDescriptors.Received) throws(DaemonSocketError) {
    guard !part.descriptors.isEmpty || part.hasLost else { return }
    let count = state.withLock {
      $0.passed += part.descriptors
      return $0.passed.count
    }
    guard takesDescriptors else {
      throw DaemonSocketError(.malformed, "no open files are taken here")
    }
    guard !part.hasLost, count <= PassedDescriptors.limit else {
      throw DaemonSocketError(
        .malformed, "at most \(PassedDescriptors.limit) open files come with a message")
    }
  }

  private func openSocket() throws(DaemonSocketError) -> Int32 {
    guard let socket = state.withLock({ $0.socket }) else { throw .closed }
    return socket
  }

  private func failure() -> DaemonSocketError {
    switch errno {
    case EPIPE, ECONNRESET: .closed
    default: .system("the socket", "the connection")
    }
  }
}
