// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperSupport

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
