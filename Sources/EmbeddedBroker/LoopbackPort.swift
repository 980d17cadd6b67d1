// SPDX-License-Identifier: Apache-2.0

import Glibc

/// TCP ports of 127.0.0.1.
package enum LoopbackPort {
  /// A port that nobody listens on now.
  static func free() throws(EmbeddedBrokerError) -> UInt16 {
    try bound(to: 0)
  }

  package static func isFree(_ port: UInt16) -> Bool {
    (try? bound(to: port)) != nil
  }

  private static func bound(to port: UInt16) throws(EmbeddedBrokerError) -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw .system("socket", errno) }
    defer { close(descriptor) }
    // As the broker does: a port whose last connections still linger is free.
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in.loopback(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0
      else { return errno }
      return 0
    }
    guard code == 0 else { throw .system("bind", code) }
    return UInt16(bigEndian: address.sin_port)
  }
}

extension sockaddr_in {
  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }
}
