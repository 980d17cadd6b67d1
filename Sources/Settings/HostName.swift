// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Names and addresses of hosts, as a resolver takes them.
package enum HostName {
  enum Mistake {
    case url
    case port
    case other
  }

  package static func isFit(_ host: String) -> Bool {
    host.contains(":") ? isIPv6(host) : isNameOrIPv4(host)
  }

  /// Whether it is an IP address, of either version.
  static func isAddress(_ host: String) -> Bool {
    var address = in_addr()
    return isIPv6(host) || inet_pton(AF_INET, host, &address) == 1
  }

  /// Whether only this machine reaches the address: 127.0.0.0/8 or ::1.
  package static func isLoopback(_ address: String) -> Bool {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      return withUnsafeBytes(of: four) { $0.first == 127 }
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, address, &six) == 1 else { return false }
    return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }

  /// Whether it can be the address of one other machine: without a zone, not loopback, also as IPv4 in IPv6, and not
  /// `any`. Which addresses this machine has is not looked up.
  static func isOtherMachine(_ address: String) -> Bool {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      return withUnsafeBytes(of: four) { $0.first != 127 && $0.contains { $0 != 0 } }
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, address, &six) == 1 else { return false }
    // ::, ::1 and ::ffff:0:0/96 (RFC 4291, 2.5); who is meant by the last is written as IPv4.
    return withUnsafeBytes(of: six) { bytes in
      bytes.prefix(10).contains { $0 != 0 } || bytes[10...11].contains { $0 != 0 && $0 != 255 }
    }
  }

  static func mistake(in host: String) -> Mistake {
    if host.contains("://") || host.contains("@") { return .url }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    let isPort = parts.count == 2 && UInt16(parts[1]) != nil && isNameOrIPv4(String(parts[0]))
    return isPort ? .port : .other
  }

  /// RFC 1123, 2.1, with the underscore that home networks use. A last label of digits only is an
  /// address, and must then be a whole one.
  private static func isNameOrIPv4(_ host: String) -> Bool {
    let labels = (host.hasSuffix(".") ? host.dropLast() : host[...])
      .split(separator: ".", omittingEmptySubsequences: false)
    guard (1...253).contains(host.utf8.count) else { return false }
    guard
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { ASCII.isNameByte($0) }
      })
    else { return false }
    if labels.last?.allSatisfy(\.isNumber) == true {
      var address = in_addr()
      return inet_pton(AF_INET, host, &address) == 1
    }
    return true
  }

  /// With a zone for link-local addresses: `fe80::1%eth0`.
  private static func isIPv6(_ host: String) -> Bool {
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[1].isEmpty || !parts[1].utf8.allSatisfy(ASCII.isNameByte) {
      return false
    }
    var address = in6_addr()
    return inet_pton(AF_INET6, String(parts[0]), &address) == 1
  }
}

/// Questions about single characters.
enum ASCII {
  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// What names are made of: letters, digits, `-`, `_`, `.`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }

  /// What a URL has as it is (RFC 3986, 2.3).
  static func isTokenByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "~") }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
