// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A server on loopback that gives every connection the same bytes, or none.
final class ScriptedServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let requests = Mutex<[String]>([])

  struct NoSocket: Error {}

  /// - Parameters:
  ///   - answer: nil: the connection is accepted and nothing is sent.
  ///   - closes: whether the connection is closed afterwards.
  init(_ answer: String?, closes: Bool = true) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let made = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, made else { throw NoSocket() }
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        self?.serve(connection, answer, closes)
      }
    }.start()
  }

  deinit {
    // Ends the `accept` of its thread.
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var received: [String] { requests.withLock { $0 } }

  private func serve(_ connection: Int32, _ answer: String?, _ closes: Bool) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = read(connection, &buffer, buffer.count)
    requests.withLock { $0.append(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)) }
    if let answer {
      let bytes = Array(answer.utf8)
      _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    if closes { close(connection) }
  }
}
