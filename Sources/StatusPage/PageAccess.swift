import Glibc
import Settings
import Synchronization

/// Who may look. With a token: whoever shows it. With a trusted proxy: whoever it lets in, or shows the token. And who
/// may change something.
package struct PageAccess: Sendable {
  private static let cookie = "threadkeeper_token"

  let token: Token
  let code: PageCode
  private let proxy: PeerAddress?
  private let mayProxyChange: Bool

  /// - Parameter now: by which a code is valid.
  init(_ http: Settings.HTTP, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    token = Token(http.token?.revealed)
    code = PageCode(now: now)
    mayProxyChange = http.trustedProxyChanges
    proxy = http.trustedProxy.flatMap { PeerAddress($0) }
  }

  /// Whether the proxy has let the user in.
  func isTrusted(_ request: PageRequest) -> Bool {
    guard let proxy, let peer = request.peer else { return false }
    return PeerAddress(peer) == proxy
  }

  /// Whether the request shows the token as `Authorization: Bearer`.
  package func isShown(by request: PageRequest) -> Bool {
    let scheme = "bearer "
    guard let given = request.authorization, given.lowercased().hasPrefix(scheme) else { return false }
    return isToken(given.dropFirst(scheme.count))
  }

  package func mayLook(_ request: PageRequest) -> Bool {
    isTrusted(request) || token.current == nil && proxy == nil || hasToken(request)
  }

  private func hasToken(_ request: PageRequest) -> Bool { isShown(by: request) || isInCookie(of: request) }

  /// Whether the page offers what changes something: only with the token, also from this machine, or through the proxy
  /// where that may.
  func offersChanges(to request: PageRequest) -> Bool { hasToken(request) || mayProxyChange && isTrusted(request) }

  /// Where it is the browser that shows the token, or that the proxy knows, the page that asks has to be ours: a
  /// browser names the page's origin in every POST (https://fetch.spec.whatwg.org/#origin-header).
  func mayChange(_ request: PageRequest) -> Bool {
    offersChanges(to: request) && isOwn(request, ifAbsent: isShown(by: request))
  }

  func isOwn(_ request: PageRequest, ifAbsent: Bool) -> Bool {
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
    return given.flatMap { isToken($0) ? Self.cookie(with: String($0)) : nil }
  }

  /// For 90 days. Of another site only a link that is followed sends it along, as that of Home Assistant's device: no
  /// form, frame or script of it does. No script reads it. Without a path it is for the page's own folder (RFC 6265,
  /// 5.1.4), and not for all else that a proxy has.
  static func cookie(with token: String) -> String { "\(cookie)=\(token); Max-Age=7776000; HttpOnly; SameSite=Lax" }

  func isToken(_ given: some StringProtocol) -> Bool {
    token.current.map { Self.isSame(Array(given.utf8), Array($0.utf8)) } ?? false
  }

  /// In the same time wherever they differ. `|` and `^` bind alike in Swift: what is compared stands in brackets.
  static func isSame(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
    given.count == secret.count && zip(given, secret).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension PageAccess {
  /// What a client has to show. Another one may take its place while the server runs.
  final class Token: Sendable {
    private let text: Mutex<String?>
    private let turn = Mutex(())

    init(_ text: String?) { self.text = Mutex(text) }

    var current: String? { text.withLock { $0 } }

    /// - Parameter make: gives another one; may wait for the disk. One call at a time.
    func findOrMake(replacing: Bool, _ make: () throws -> String) throws -> (text: String, isNew: Bool) {
      try turn.withLock { _ in
        if let token = current, !replacing { return (text: token, isNew: false) }
        let token = try make()
        text.withLock { $0 = token }
        return (text: token, isNew: true)
      }
    }
  }
}

/// Whether a request is meant for this server.
///
/// A foreign web page can have its own name resolve to an address of the house (DNS rebinding); then a browser sends
/// what the page asks for here, with that name as the host. So a name has to be one that we know. An address cannot be
/// rebound.
package struct HostCheck: Sendable {
  private let names: Set<String>

  package init(names: [String]) { self.names = Set((["localhost"] + names).map(Self.normal)) }

  /// - Parameter host: of the header `Host` (RFC 9110, 7.2): a name or an address, and perhaps a port.
  package func allows(_ host: String) -> Bool {
    if host.first == "[" {
      guard let end = host.lastIndex(of: "]"), Self.isPort(host[host.index(after: end)...]) else { return false }
      var address = in6_addr()
      return inet_pton(AF_INET6, String(host[host.index(after: host.startIndex)..<end]), &address) == 1
    }
    let name = host.prefix { $0 != ":" }
    guard Self.isPort(host[name.endIndex...]) else { return false }
    var address = in_addr()
    return inet_pton(AF_INET, String(name), &address) == 1 || names.contains(Self.normal(String(name)))
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
