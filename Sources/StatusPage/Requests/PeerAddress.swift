// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IP address in one form, however it is written. A server that listens on `::` sees IPv4 as `::ffff:192.0.2.1`
/// (RFC 4291, 2.5.5.2).
struct PeerAddress: Equatable, Sendable {
  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

  /// 16 bytes, in network order.
  private let bytes: [UInt8]

  /// 127.0.0.0/8 and ::1.
  var isLoopback: Bool {
    bytes.starts(with: Self.mapped + [127]) || bytes == Array(repeating: 0, count: 15) + [1]
  }

  /// Nil where it is no address. One with a zone is none: it is no other machine's for sure.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = Self.mapped + withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }
}
