// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperSupport

/// A TCP connection of a client that may behave as badly as it likes.
package final class RawConnection: Sendable {
  package struct Failed: Error {
    package let errno: Int32
  }

  private let descriptor: Int32

  package init(port: Int) async throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failed(errno: errno) }
    // Longer than any test waits.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { [descriptor] in
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Failed(errno: errno) }
  }

  deinit { close(descriptor) }

  package func send(_ text: String) async throws {
    try await SystemThread.result { [descriptor] in
      var left = Array(text.utf8)[...]
      while !left.isEmpty {
        let count = left.withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { throw Failed(errno: errno) }
        left.removeFirst(count)
      }
    }
  }

  /// Sends nothing more, and reads on.
  package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// What comes next; empty where the server has ended the connection, also by a reset.
  package func read(upTo count: Int = 65_536) async throws -> String {
    try await SystemThread.result { [descriptor] in
      var bytes = [UInt8](repeating: 0, count: count)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      guard count >= 0 || errno == ECONNRESET else { throw Failed(errno: errno) }
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  package func readToEnd() async throws -> String {
    var text = ""
    while true {
      let more = try await read()
      if more.isEmpty { return text }
      text += more
    }
  }
}
