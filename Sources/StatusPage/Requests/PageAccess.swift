// SPDX-License-Identifier: Apache-2.0

/// Who may look. With a token: whoever shows it.
package struct PageAccess: Sendable {
  private static let cookie = "threadkeeper_token"

  private let token: [UInt8]?

  package init(token: String?) { self.token = token.map { Array($0.utf8) } }

  /// Whether the request shows the token as `Authorization: Bearer`.
  package func isShown(by request: PageRequest) -> Bool {
    let scheme = "bearer "
    guard let given = request.authorization, given.lowercased().hasPrefix(scheme) else {
      return false
    }
    return isToken(given.dropFirst(scheme.count))
  }

  package func mayLook(_ request: PageRequest) -> Bool {
    token == nil || isShown(by: request) || isInCookie(of: request)
  }

  var hasToken: Bool { token != nil }

  /// Only with the token, also from this machine. Where it is the browser that shows it, the page that asks has to be
  /// ours: a browser names the page's origin in every POST (https://fetch.spec.whatwg.org/#origin-header).
  func mayChange(_ request: PageRequest) -> Bool {
    mayLook(request) && hasToken && isOwn(request, ifAbsent: isShown(by: request))
  }

  private func isOwn(_ request: PageRequest, ifAbsent: Bool) -> Bool {
    guard let origin = request.origin else { return ifAbsent }
    guard let host = request.host?.lowercased() else { return false }
    // A proxy before us may have TLS.
    return origin.lowercased() == "http://\(host)" || origin.lowercased() == "https://\(host)"
  }

  /// Whether a browser shows the token that a link has brought it.
  func isInCookie(of request: PageRequest) -> Bool {
    (request.cookie ?? "").split(separator: ";").contains { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix("\(Self.cookie)=") && isToken(pair.dropFirst(Self.cookie.count + 1))
    }
  }

  /// What a link with the token is exchanged for: `/?token=…`. Only for a link that has the right one.
  func cookie(for request: PageRequest) -> String? {
    let given = request.query.split(separator: "&").first { $0.hasPrefix("token=") }?.dropFirst(6)
    guard let given, isToken(given) else { return nil }
    // For 90 days. No other site's page sends it along, and no script reads it.
    return "\(Self.cookie)=\(given); Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict"
  }

  /// In the same time wherever they differ.
  func isToken(_ given: some StringProtocol) -> Bool {
    guard let token else { return false }
    let given = Array(given.utf8)
    guard given.count == token.count else { return false }
    return zip(given, token).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }
}
