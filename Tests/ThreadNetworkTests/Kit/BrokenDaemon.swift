// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

@testable import ThreadNetwork

/// A listener whose first connections end after the request has come, as those of a process do that is
/// killed. The others are answered.
final class BrokenDaemon: Sendable {
  private let directory: TemporaryDirectory
  private let path: String
  private let descriptor: Int32
  private let count = Mutex(0)

  init(breaking broken: Int, _ answer: @escaping @Sendable (Int) -> [UInt8]) throws {
    directory = try TemporaryDirectory()
    path = directory.file("client.sock")
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in room.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(descriptor, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
    Thread { [descriptor, weak self] in
      while case let connection = accept(descriptor, nil, nil), connection >= 0 {
        let number = self?.next() ?? 0
        Self.serve(connection, number < broken ? nil : answer(number))
      }
    }.start()
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  var calls: Int { count.withLock { $0 } }
  var client: THClient { THClient(configuration: .init(socket: path, asksOnTerminal: false)) }

  private func next() -> Int {
    count.withLock { count in
      count += 1
      return count - 1
    }
  }

  private static func serve(_ connection: Int32, _ answer: [UInt8]?) {
    defer { close(connection) }
    var byte: UInt8 = 1
    while byte != 0 {
      guard recv(connection, &byte, 1, 0) == 1 else { return }
    }
    guard let answer else { return }
    let message = AnswerMessage.bytes(answer) + [0]
    _ = send(connection, message, message.count, Int32(MSG_NOSIGNAL))
  }
}
