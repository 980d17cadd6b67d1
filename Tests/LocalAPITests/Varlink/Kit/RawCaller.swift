import Glibc
import Testing
import ThreadkeeperSupport

@testable import LocalAPI

/// A caller of the kernel's functions, which keeps to no rule.
final class RawCaller: Sendable {
  let socket: Int32

  init(_ path: String) throws {
    let address = try SocketAddress(path)
    socket = try SocketAddress.makeSocket(path)
    try #require(address.withAddress { Glibc.connect(socket, $0, $1) } == 0)
  }

  deinit { Glibc.close(socket) }

  /// - Returns: false when nobody listens any more.
  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == bytes.count
  }

  /// A message.
  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8) + [0]) }

  func endSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// Whether the server has closed the connection.
  var isClosed: Bool {
    var entry = pollfd(fd: socket, events: 0, revents: 0)
    return poll(&entry, 1, 0) == 1 && Int32(entry.revents) & POLLHUP != 0
  }

  /// The replies that come next; fewer when the connection ends before.
  func replies(_ count: Int) async throws -> [String] {
    try await SystemThread.result { [socket] in
      var frames = VarlinkFrames(limit: 16 << 20)
      var replies: [String] = []
      while replies.count < count {
        if let message = try frames.next() {
          replies.append(String(decoding: message, as: UTF8.self))
          continue
        }
        // One at a time, so that nothing is taken that is for the next call.
        var byte: UInt8 = 0
        guard recv(socket, &byte, 1, 0) == 1 else { return replies }
        frames.append([byte])
      }
      return replies
    }
  }

  func reply() async throws -> String? { try await replies(1).first }

  /// Passes an open file with a byte.
  ///
  /// - Returns: 0, or the number of the system's error.
  func pass(_ descriptor: Int32) -> Int32 {
    var control = [UInt8](repeating: 0, count: 24)
    var byte = UInt8(ascii: " ")
    return control.withUnsafeMutableBytes { control in
      control.storeBytes(of: 20, as: Int.self)
      control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      control.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
      control.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
      return withUnsafeMutablePointer(to: &byte) { byte in
        var part = iovec(iov_base: byte, iov_len: 1)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = numericCast(control.count)
          return sendmsg(socket, &message, Int32(MSG_NOSIGNAL)) == 1 ? 0 : errno
        }
      }
    }
  }
}
