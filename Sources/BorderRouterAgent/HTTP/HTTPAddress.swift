// SPDX-License-Identifier: Apache-2.0

import Glibc

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
  /// Addresses that need no look-up, for `host`; `localhost` is never looked up (RFC 6761, section 6.3).
  var literals: [String] {
    if host.lowercased() == "localhost" { return ["127.0.0.1", "::1"] }
    var bytes = in6_addr()
    let isLiteral = [AF_INET, AF_INET6].contains { inet_pton($0, host, &bytes) == 1 }
    return isLiteral ? [host] : []
  }

  /// Whether what is sent there stays on this machine: 127.0.0.0/8, ::1 or `localhost`, and no other name.
  package var isLoopback: Bool {
    let literals = literals
    return !literals.isEmpty
      && literals.allSatisfy { text in
        var address = in_addr()
        if inet_pton(AF_INET, text, &address) == 1 {
          return UInt32(bigEndian: address.s_addr) >> 24 == 127
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return false }
        return withUnsafeBytes(of: &six) {
          $0.elementsEqual([UInt8](repeating: 0, count: 15) + [1])
        }
      }
  }
}

extension HTTPAddress: CustomStringConvertible {
  /// The host with its port, as the header `Host` has it.
  var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

  package var description: String { "http://\(authority)" }
}
