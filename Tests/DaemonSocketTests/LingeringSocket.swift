// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

/// A connection over TCP whose close waits, because it lingers and the other side takes nothing.
struct LingeringSocket {
  let socket: Int32
  private let other: Int32

  init() throws {
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    // As little as can be: there are many.
    var room: Int32 = 4_096
    let word = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, word)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && Glibc.listen(listener, 1) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isListening)
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, word)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, length) == 0
      }
    }
    try #require(isConnected)
    let other = accept(listener, nil, nil)
    try #require(other >= 0)
    let rubbish = [UInt8](repeating: 0, count: 1 << 16)
    while send(socket, rubbish, rubbish.count, Int32(MSG_DONTWAIT)) > 0 {}
    var lingers = linger(l_onoff: 1, l_linger: 600)
    let size = socklen_t(MemoryLayout<linger>.size)
    try #require(setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingers, size) == 0)
    (self.socket, self.other) = (socket, other)
  }

  /// Lets the close go on: the connection is no more.
  func end() {
    var lingers = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      other, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
    close(other)
  }
}
