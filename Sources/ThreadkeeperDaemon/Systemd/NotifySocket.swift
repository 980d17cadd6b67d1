// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The socket at which a service manager receives notices of this process: the protocol of sd_notify(3), without
/// libsystemd. A notice is one datagram of lines `KEY=VALUE`.
package final class NotifySocket: Sendable {
  private static let variable = "NOTIFY_SOCKET"
  /// Of `sun_path`: unix(7).
  private static let room = 108

  /// One for the life of the process: a daemon that has run out of open files must still be able to send.
  private let descriptor: Int32
  /// The name in the form of `sun_path`; that of an abstract socket begins with a zero byte.
  private let name: [UInt8]

  /// Nil where no service manager waits for notices, or where its address is none of a Unix socket.
  package init?(environment: [String: String]) {
    guard let name = environment[Self.variable].flatMap(Self.name) else { return nil }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.name = name
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Sends lines as one notice. Does not wait: systemd reads when it can, and a daemon does not stand still for it.
  ///
  /// - Returns: whether it was sent.
  @discardableResult
  package func send(_ lines: [String]) -> Bool {
    guard !lines.isEmpty else { return true }
    let message = Array(lines.joined(separator: "\n").utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The length says where the name of an abstract socket ends.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let sent = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, message, message.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL),
          $0, length)
      }
    }
    return sent == message.count
  }

  /// - Returns: nil for an address that is neither a path nor the name of an abstract socket (`@…`).
  private static func name(_ address: String) -> [UInt8]? {
    var bytes = Array(address.utf8)
    guard bytes.count > 1, bytes.count < room else { return nil }
    switch bytes[0] {
    case UInt8(ascii: "/"): return bytes + [0]
    case UInt8(ascii: "@"):
      bytes[0] = 0
      return bytes
    default: return nil
    }
  }
}
