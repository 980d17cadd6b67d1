// SPDX-License-Identifier: Apache-2.0

import YAMLReader

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension SettingsReader {
  mutating func http(besideStore store: String) -> Settings.HTTP {
    var http = Settings.HTTP()
    let file = http.tokenFile(besideStore: store)
    if sources[.httpToken] == nil {
      if access(file, R_OK) == 0 {
        sources[.httpToken] = SettingsSource(content: .file(path: file), place: .defaults)
        http.isTokenFromFile = true
      } else {
        // Other users' commands cannot read it, and need not.
        http.isTokenUnreadable = errno != ENOENT
      }
    }
    http.isEnabled = truth(.httpEnabled) ?? http.isEnabled
    http.address = text(.httpAddress, where: HostName.isAddress) ?? http.address
    http.port = number(.httpPort, in: 1...65_535).flatMap(UInt16.init(exactly:)) ?? http.port
    http.token = text(.httpToken) {
      (16...256).contains($0.utf8.count) && $0.utf8.allSatisfy(ASCII.isTokenByte)
    }.map { SecretText($0) }
    http.names = httpNames()
    http.trustedProxy = text(.httpTrustedProxy, where: HostName.isOtherMachine)
    http.trustedProxyChanges = truth(.httpTrustedProxyChanges) ?? http.trustedProxyChanges
    // A token that is unfit is reported already, and the daemon's user reads what another one cannot.
    if !HostName.isLoopback(http.address), sources[.httpToken] == nil, !http.isTokenUnreadable,
      sources[.httpTrustedProxy] == nil
    {
      report(
        .httpAddress, at: place(of: .httpAddress),
        "needs a token, because other machines reach \(SettingsEntry.shown(http.address)): run "
          + "`threadkeeper page token`, or set `http.token`")
    }
    return http
  }

  private mutating func httpNames() -> [String] {
    let key = "http.names"
    guard let (document, node) = mappings[key], !node.isNull else { return [] }
    guard case .sequence(let nodes) = node.content else {
      report(
        key, at: document.place(of: node), "expected a list of host names, found \(node.kind)")
      return []
    }
    return nodes.compactMap { node in
      let place = document.place(of: node)
      guard let name = node.text, !node.isNull else {
        report(key, at: place, "expected a host name, found \(node.kind)")
        return nil
      }
      guard HostName.isFit(name) else {
        report(
          key, at: place,
          "expected a host name without a port, found \(SettingsEntry.shown(name))")
        return nil
      }
      return name
    }
  }
}
