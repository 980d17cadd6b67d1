// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperSupport

/// Where a REST interface is: `http://HOST[:PORT]`, without path, query or login.
package struct HTTPAddress: Hashable, Sendable {
  /// A name or an address; an IPv6 address without its brackets.
  package let host: String
  package let port: UInt16

  /// OpenThread Border Router's own.
  package static let defaultPort: UInt16 = 8081

  /// - Parameter text: `http://127.0.0.1:8081`, `http://[::1]`, `hub.local:8081`. Without a port: 8081.
  /// - Returns: nil for everything else, also for `https`: that REST interface speaks plain HTTP only.
  package init?(_ text: String) {
    var rest = text[...]
    if let scheme = rest.firstRange(of: "://") {
      guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
      rest = rest[scheme.upperBound...]
    }
    while rest.last == "/" { rest.removeLast() }
    let host: Substring
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
      guard host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
    } else {
      host = rest.prefix { $0 != ":" }
      rest = rest[host.endIndex...]
      guard host.utf8.allSatisfy(Self.isHostByte) else { return nil }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    switch rest.first {
    case nil: port = Self.defaultPort
    case ":":
      guard rest.dropFirst().allSatisfy(\.isASCII), let port = UInt16(rest.dropFirst()), port > 0
      else { return nil }
      self.port = port
    default: return nil
    }
    self.host = String(host)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || "-._".contains(character))
  }
}

extension HTTPAddress {
  /// Whether what is sent there stays on this machine: 127.0.0.0/8, ::1 or `localhost`, and no other name. Such a host
  /// is never looked up (RFC 6761, section 6.3).
  package var isLoopback: Bool {
    host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
  }
}

extension HTTPAddress: CustomStringConvertible {
  /// The host with its port, as the header `Host` has it.
  var authority: String { "\(HostAndPort(host, port))" }

  package var description: String { "http://\(authority)" }
}

/// An address of a host.
struct IPAddress: Equatable {
  /// In the order of the network: 4, or 16. An IPv4 address that is mapped into IPv6 has 4. What is sent to 0.0.0.0 or
  /// :: goes to this machine, so they are the loopback address.
  let bytes: [UInt8]

  private static let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]

  /// - Parameter text: `127.0.0.1`, `::1`, `fe80::1%eth0`.
  init?(_ text: String) {
    var ipv4 = in_addr()
    var ipv6 = in6_addr()
    let host = String(text.prefix { $0 != "%" })
    var bytes: [UInt8]
    if inet_pton(AF_INET, host, &ipv4) == 1 {
      bytes = withUnsafeBytes(of: &ipv4) { Array($0) }
    } else if inet_pton(AF_INET6, host, &ipv6) == 1 {
      bytes = withUnsafeBytes(of: &ipv6) { Array($0) }
      if bytes.starts(with: Self.mapped) { bytes.removeFirst(Self.mapped.count) }
    } else {
      return nil
    }
    if bytes.allSatisfy({ $0 == 0 }) {
      if bytes.count == 4 { bytes[0] = 127 }
      bytes[bytes.count - 1] = 1
    }
    self.bytes = bytes
  }

  /// 127.0.0.0/8 or ::1: what is sent there stays on this machine.
  var isLoopback: Bool { Loopback.contains(bytes) }
}
