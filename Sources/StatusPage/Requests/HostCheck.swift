// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whether a request is meant for this server.
///
/// A foreign web page can have its own name resolve to an address of the house (DNS rebinding); then a browser sends
/// what the page asks for here, with that name as the host. So a name has to be one that we know. An address cannot be
/// rebound.
package struct HostCheck: Sendable {
  private let names: Set<String>

  package init(names: [String]) {
    self.names = Set((["localhost"] + names).map(Self.normal))
  }

  /// - Parameter host: of the header `Host` (RFC 9110, 7.2): a name or an address, and perhaps a port.
  package func allows(_ host: String) -> Bool {
    if host.first == "[" {
      guard let end = host.lastIndex(of: "]"), Self.isPort(host[host.index(after: end)...]) else {
        return false
      }
      var address = in6_addr()
      return inet_pton(AF_INET6, String(host[host.index(after: host.startIndex)..<end]), &address)
        == 1
    }
    let name = host.prefix { $0 != ":" }
    guard Self.isPort(host[name.endIndex...]) else { return false }
    var address = in_addr()
    return inet_pton(AF_INET, String(name), &address) == 1
      || names.contains(Self.normal(String(name)))
  }

  private static func normal(_ name: String) -> String {
    let lower = name.lowercased()
    return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
  }

  /// Nothing, or `:` and a number.
  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
  }
}
