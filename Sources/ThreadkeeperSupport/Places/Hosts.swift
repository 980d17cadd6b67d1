import Glibc

/// Hosts that are this machine itself: what is sent there does not leave it.
package enum Loopback {
  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  /// Whether an address is in 127.0.0.0/8, as IPv4 or mapped into IPv6 (RFC 4291, 2.5.5.2), or is ::1.
  ///
  /// - Parameter address: 4 or 16 bytes, in network order.
  package static func contains(_ address: [UInt8]) -> Bool {
    if address.count == 4 { return address[0] == 127 }
    return address.starts(with: mapped + [127]) || address == [UInt8](repeating: 0, count: 15) + [1]
  }

  /// Whether a host is `localhost` (RFC 6761, 6.3), or such an address. No other name is: it may lead anywhere.
  package static func contains(host: String) -> Bool {
    if host.lowercased() == "localhost" { return true }
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, host, &four) == 1 { return contains(withUnsafeBytes(of: four) { [UInt8]($0) }) }
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

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The address by which other machines reach this one.
package enum OwnAddress {
  /// From which it would send to others. Nothing is sent: the addresses are nobody's (RFC 5737, RFC 3849).
  ///
  /// - Returns: nil where there is no way to any.
  package static func find() -> String? { source(to: "192.0.2.1") ?? source(to: "2001:db8::1") }

  private static func source(to host: String) -> String? {
    var (hints, list) = (addrinfo(), nil as UnsafeMutablePointer<addrinfo>?)
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    guard getaddrinfo(host, "9", &hints, &list) == 0, let entry = list?.pointee else { return nil }
    defer { freeaddrinfo(list) }
    let descriptor = socket(entry.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else { return nil }
    var (own, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = withUnsafeMutableBytes(of: &own) { bytes -> Int32 in
      guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        getsockname(descriptor, address, &length) == 0
      else { return -1 }
      return getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    }
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
