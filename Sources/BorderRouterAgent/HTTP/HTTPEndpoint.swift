// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where a connection goes: an address of a host.
struct HTTPEndpoint: Equatable, Sendable {
  let family: Int32
  /// A `sockaddr` of the family.
  let address: [UInt8]
  /// 127.0.0.0/8 or ::1: what is sent there stays on this machine.
  var isLoopback: Bool {
    switch family {
    case AF_INET: host.first == 127
    case AF_INET6: host == [UInt8](repeating: 0, count: 15) + [1]
    default: false
    }
  }

  /// In the order of the network: 4 bytes, or 16.
  var host: [UInt8] {
    switch family {
    case AF_INET: Array(address.dropFirst(4).prefix(4))
    case AF_INET6: Array(address.dropFirst(8).prefix(16))
    default: []
    }
  }

  /// Asks the system's resolver, which takes as long as it likes for a name.
  ///
  /// - Throws: `HTTPFailure.unreachable`.
  static func resolve(_ address: HTTPAddress) throws(HTTPFailure) -> [HTTPEndpoint] {
    let literals = address.literals
    var endpoints: [HTTPEndpoint] = []
    for host in literals.isEmpty ? [address.host] : literals {
      endpoints += try resolve(host, address, isLiteral: !literals.isEmpty)
    }
    return endpoints
  }

  private static func resolve(
    _ host: String, _ address: HTTPAddress, isLiteral: Bool
  ) throws(HTTPFailure) -> [HTTPEndpoint] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV | (isLiteral ? AI_NUMERICHOST : 0)
    var result: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, "\(address.port)", &hints, &result)
    guard code == 0 else { throw .unreachable(String(cString: gai_strerror(code))) }
    defer { freeaddrinfo(result) }
    var endpoints: [HTTPEndpoint] = []
    var next = result
    while let info = next?.pointee {
      let bytes = UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
      endpoints.append(HTTPEndpoint(family: info.ai_family, address: Array(bytes)))
      next = info.ai_next
    }
    return endpoints
  }
}
