// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Names and addresses of hosts, as a resolver takes them.
enum HostName {
  enum Mistake {
    case url
    case port
    case other
  }

  static func isFit(_ host: String) -> Bool {
    host.contains(":") ? isIPv6(host) : isNameOrIPv4(host)
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
