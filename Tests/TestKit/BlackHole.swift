// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A port where a connection is neither taken nor refused: its queue is full and nobody empties it.
package final class BlackHole: Sendable {
  package let port: UInt16
  private let listener: FakeListener
  private let fillers: [Int32]

  package init() throws {
    listener = try FakeListener(backlog: 0)
    port = listener.port
    var fillers: [Int32] = []
    var isFull = false
    while !isFull, fillers.count < 16 {
      let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      fillers.append(filler)
      _ = fcntl(filler, F_SETFL, O_NONBLOCK)
      _ = fcntl(filler, F_SETFD, FD_CLOEXEC)
      var address = FakeListener.address(port)
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = withUnsafeBytes(of: &address) {
        connect(filler, $0.bindMemory(to: sockaddr.self).baseAddress, length)
      }
      // On the loopback a handshake that is going to succeed has done so by now.
      var poller = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
      isFull = poll(&poller, 1, 50) == 0
    }
    self.fillers = fillers
  }

  deinit {
    for filler in fillers { _ = close(filler) }
  }

  /// Whether somebody besides ourselves is trying to connect.
  package var isBeingCalled: Bool {
    let table = (try? Program.check("cat", ["/proc/net/tcp"])) ?? ""
    let remote = String(format: "0100007F:%04X", port)
    // State 02 is SYN_SENT. The last filler is one of them.
    let calling = table.split(separator: "\n").filter { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[2] == remote && fields[3] == "02"
    }
    return calling.count > 1
  }
}
