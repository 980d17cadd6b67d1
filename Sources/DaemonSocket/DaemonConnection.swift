// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// One connection between a command and the daemon. Whole messages go over it:
///
/// ```
/// length, 4 octets, big-endian | that many octets
/// ```
package final class DaemonConnection: Sendable {
  /// The most octets of one message: a password of 65,535 octets fits, whatever JSON makes of it.
  package static let limit = 512 << 10

  package let peer: SocketPeer
  private let descriptor: Int32
  private let passed = Mutex<[Int32]>([])

  /// Takes the descriptor over.
  init(_ descriptor: Int32) throws(DaemonSocketError) {
    guard let peer = SocketPeer(descriptor) else {
      let code = errno
      close(descriptor)
      throw .system("getsockopt", "the connection", code)
    }
    self.peer = peer
    self.descriptor = descriptor
  }

  deinit {
    for passed in takePassed() { close(passed) }
    close(descriptor)
  }

  /// The open files that came with messages, from now on the caller's, who closes them.
  package func takePassed() -> [Int32] {
    passed.withLock { passed in
      defer { passed = [] }
      return passed
    }
  }

  /// How long a call waits for the other side; it waits in a system call, so not in an executor.
  func wait(atMost seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Whether the other side has gone: nobody waits for an answer then.
  package var isGone: Bool {
    var octet: UInt8 = 0
    return recv(descriptor, &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
  }

  /// Ends all waiting; from any thread.
  func abort() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// - Parameter descriptors: open files for the other side, at most `PassedDescriptors.limit`.
  func send(_ message: [UInt8], passing descriptors: [Int32] = []) throws(DaemonSocketError) {
    guard message.count <= Self.limit else {
      throw DaemonSocketError(.tooLarge, "a message of \(message.count) octets is too large")
    }
    let length = UInt32(message.count)
    var rest = ([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message)[...]
    var passing = descriptors
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { rest in
        passing.isEmpty
          ? Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
          : PassedDescriptors.send(rest, passing, to: descriptor)
      }
      if count > 0 {
        // They go with the first octet.
        passing = []
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw failure()
      }
    }
  }

  func receive() throws(DaemonSocketError) -> [UInt8] {
    let length = try receive(4).reduce(0) { $0 << 8 | Int($1) }
    guard length <= Self.limit else {
      throw DaemonSocketError(.tooLarge, "a message of \(length) octets is too large")
    }
    return try receive(length)
  }

  private func receive(_ count: Int) throws(DaemonSocketError) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let (received, descriptors) = octets[filled...].withUnsafeMutableBytes {
        PassedDescriptors.receive(into: $0, from: descriptor)
      }
      if !descriptors.isEmpty { keep(descriptors) }
      if received > 0 {
        filled += received
      } else if received == 0 {
        throw .closed
      } else if errno != EINTR {
        throw failure()
      }
    }
    return octets
  }

  private func keep(_ descriptors: [Int32]) {
    passed.withLock { passed in
      for descriptor in descriptors {
        if passed.count < PassedDescriptors.limit {
          passed.append(descriptor)
        } else {
          close(descriptor)
        }
      }
    }
  }

  private func failure() -> DaemonSocketError {
    switch errno {
    case EAGAIN: DaemonSocketError(.timedOut, "the other side does not answer")
    case EPIPE, ECONNRESET: .closed
    default: .system("the socket", "the connection")
    }
  }
}
