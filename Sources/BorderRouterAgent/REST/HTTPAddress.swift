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
  var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
  }
}

/// Whose program takes the connections to a port of this machine, by proc(5).
///
/// ```
///   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
///    0: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 25430 …
/// ```
/// Each 32 bits of an address are printed as a number of this machine; `0A` is a socket that listens. While a router is
/// off, any user of its machine can listen on its port.
struct PortListeners {
  /// Of /proc/net/tcp and /proc/net/tcp6.
  private let ipv4: [Row]
  private let ipv6: [Row]

  private struct Row {
    let address: Substring
    let port: UInt16
    let user: UInt32
  }

  private static let listens = "0A"
  private static let anyIPv4 = "00000000"
  private static let anyIPv6 = "00000000000000000000000000000000"

  /// - Parameters: the two tables.
  init(ipv4: String, ipv6: String) {
    self.ipv4 = Self.rows(ipv4)
    self.ipv6 = Self.rows(ipv6)
  }

  /// As they are now.
  ///
  /// - Throws: `HTTPFailure.unchecked`.
  static func current() throws(HTTPFailure) -> PortListeners {
    // There is no second one in a kernel without IPv6.
    let hasIPv6 = access("/proc/net/tcp6", F_OK) == 0 || errno != ENOENT
    return try PortListeners(
      ipv4: text("/proc/net/tcp"), ipv6: hasIPv6 ? text("/proc/net/tcp6") : "")
  }

  /// Who has bound a port: while what belongs there is off, any user of the machine can.
  ///
  /// - Parameter users: whose programs may.
  /// - Returns: false where nobody has. Elsewhere than on this machine that is not known, and true.
  /// - Throws: `untrusted`, `unchecked`.
  static func areThere(
    at text: String, port: UInt16, of users: Set<UInt32>
  ) throws(HTTPFailure) -> Bool {
    guard let address = IPAddress(text) else { throw .unchecked("\(text) is no address") }
    guard address.isLoopback else { return true }
    let found = try current().users(at: address.bytes, port: port)
    if let other = found.subtracting(users).min() {
      throw .untrusted("a program of user \(other) listens on port \(port)")
    }
    return !found.isEmpty
  }

  /// The same for a connection that is there: somebody has taken it.
  ///
  /// - Throws: also `unreachable`, where nobody is found.
  static func check(_ text: String, port: UInt16, of users: Set<UInt32>) throws(HTTPFailure) {
    // The table may miss one while others come and go.
    for _ in 0..<3 where try areThere(at: text, port: port, of: users) { return }
    throw .unreachable("nothing listens on port \(port)")
  }

  /// - Parameter address: in the order of the network: 4 bytes, or 16.
  /// - Returns: empty where nothing listens. A socket for this very address comes before one for all addresses.
  func users(at address: [UInt8], port: UInt16) -> Set<UInt32> {
    let own = Self.hex(address)
    let isIPv6 = address.count == 16
    let rows = isIPv6 ? ipv6 : ipv4
    let mapped = isIPv6 ? own : Self.hex([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255] + address)
    for (rows, wanted) in [
      (rows, own), (rows, isIPv6 ? Self.anyIPv6 : Self.anyIPv4), (ipv6, mapped),
      (ipv6, Self.anyIPv6),
    ] {
      let users = Set(rows.filter { $0.port == port && $0.address == wanted }.map(\.user))
      if !users.isEmpty { return users }
    }
    return []
  }

  private static func rows(_ table: String) -> [Row] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 7, fields[3] == listens, let user = UInt32(fields[7]) else { return nil }
      let place = fields[1].split(separator: ":")
      guard place.count == 2, let port = UInt16(place[1], radix: 16) else { return nil }
      return Row(address: place[0], port: port, user: user)
    }
  }

  private static func hex(_ address: [UInt8]) -> String {
    stride(from: 0, to: address.count, by: 4).map { start in
      let word = address[start..<start + 4].withUnsafeBytes {
        $0.loadUnaligned(as: UInt32.self)
      }
      let digits = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  /// - Throws: `HTTPFailure.unchecked`.
  static func text(_ path: String) throws(HTTPFailure) -> String {
    guard let text = KernelFile.text(path) else { throw .unchecked("cannot read \(path)") }
    return text
  }
}
