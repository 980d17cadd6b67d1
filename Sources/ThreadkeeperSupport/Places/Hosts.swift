// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Hosts that are this machine itself: what is sent there does not leave it.
package enum Loopback {
  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  /// Whether an address is in 127.0.0.0/8, as IPv4 or mapped into IPv6 (RFC 4291, 2.5.5.2), or is ::1.
  ///
  /// - Parameter address: 4 or 16 bytes, in network order.
  package static func contains(_ address: [UInt8]) -> Bool {
    if address.count == 4 { return address[0] == 127 }
    return address.starts(with: mapped + [127])
      || address == [UInt8](repeating: 0, count: 15) + [1]
  }

  /// Whether a host is `localhost` (RFC 6761, 6.3), or such an address. No other name is: it may lead anywhere.
  package static func contains(host: String) -> Bool {
    if host.lowercased() == "localhost" { return true }
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, host, &four) == 1 {
      return contains(withUnsafeBytes(of: four) { [UInt8]($0) })
    }
    guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
    return contains(withUnsafeBytes(of: six) { [UInt8]($0) })
  }
}

/// A host with its port, for messages and URLs: `broker.lan:1883`, `[fd00::1]:1883`.
package struct HostAndPort: CustomStringConvertible {
  private let host: String
  private let port: Int

  /// - Parameter host: a name or an address without brackets.
  package init(_ host: String, _ port: some BinaryInteger) {
    self.host = host
    self.port = Int(port)
  }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
