import StatusPage
import Testing

@Suite("A proxy that lets in only users that it knows") struct TrustedProxyTests {
  private static let proxy = "172.30.32.2"
  private static let host = "homeassistant.local:8123"
  private static let beside = "http://local-threadkeeper:8423/"

  private let source = FixedSource()

  private func reply(to request: PageRequest, token: String?, isAllowed: Bool) async -> PageReply {
    await source.reply(to: request, token: token) {
      ($0.http.address, $0.http.trustedProxy, $0.http.trustedProxyChanges) = ("0.0.0.0", Self.proxy, isAllowed)
      $0.addressBesideProxy = Self.beside
    }
  }

  private func reply(
    _ path: String = "/", from peer: String?, token: String? = nil, host: String = host, authorization: String? = nil,
    isAllowed: Bool = false
  ) async -> PageReply {
    await reply(
      to: PageRequest(path, host: host, authorization: authorization, peer: peer), token: token, isAllowed: isAllowed)
  }

  private func change(
    from peer: String?, origin: String?, token: String? = nil, type: String = "application/json",
    isAllowed: Bool = true, cookie: String? = nil
  ) async -> PageReply {
    await reply(
      to: PageRequest(
        "/consent/deny", method: "POST", host: Self.host, origin: origin, cookie: cookie, contentType: type,
        body: Array(#"{"id":"c1"}"#.utf8), peer: peer), token: token, isAllowed: isAllowed)
  }

  @Test(
    "Whoever comes from it sees the page under any host name, also where there is a token",
    arguments: [nil, sampleToken]) func looks(token: String?) async
  {
    for peer in [Self.proxy, "::ffff:172.30.32.2"] {
      for path in ["/", "/events", "/metrics"] {
        #expect(await reply(path, from: peer, token: token).status == .ok, "\(path) \(peer)")
      }
    }
  }

  @Test("Everybody else needs the token, and where there is none nobody else is let in") func others() async {
    for peer in [nil, "127.0.0.1", "::1", "172.30.32.3", "172.30.32.22", "::172.30.32.2", "fe80::1%eth0", ""] {
      for token in [nil, sampleToken] {
        for path in ["/", "/events", "/metrics"] {
          let reply = await reply(path, from: peer, token: token, host: "localhost")
          #expect(reply.status == .unauthorized, "\(path) \(peer ?? "")")
        }
      }
      #expect(await reply(from: peer).status == .misdirected)
      #expect(
        await reply(from: peer, token: sampleToken, host: "localhost", authorization: "Bearer \(sampleToken)").status
          == .ok)
    }
    for path in ["/healthz", "/readyz"] {
      #expect(await reply(path, from: "127.0.0.1", host: "localhost").status == .ok)
    }
  }

  @Test("Through it the page says where it is without it, to nobody else") func besideProxy() async {
    #expect(await reply(from: Self.proxy).text.contains(#"data-address="\#(Self.beside)""#))
    let other = await reply(
      from: "127.0.0.1", token: sampleToken, host: "localhost", authorization: "Bearer \(sampleToken)")
    #expect(other.status == .ok && !other.text.contains(Self.beside))
  }

  @Test("Its own pages show the page in a frame, and nobody else's do") func framed() async throws {
    let page = await reply(from: Self.proxy)
    #expect(page.values("X-Frame-Options") == ["SAMEORIGIN"])
    let policy = try #require(page.values("Content-Security-Policy").first)
    #expect(policy.hasSuffix("; frame-ancestors 'self'"))
    let other = await reply(
      from: "127.0.0.1", token: sampleToken, host: "localhost", authorization: "Bearer \(sampleToken)")
    #expect(other.values("X-Frame-Options").isEmpty)
    #expect(other.values("Content-Security-Policy").first?.hasSuffix("frame-ancestors 'none'") == true)
  }

  @Test(
    "Without the setting for it nothing is changed through it, also where there is a token",
    arguments: [nil, sampleToken]) func readsOnly(token: String?) async
  {
    let own = "https://\(Self.host)"
    let refused = await change(from: Self.proxy, origin: own, token: token, isAllowed: false)
    #expect(refused.status == .forbidden)
    #expect(refused.text.contains("http.trusted_proxy_changes"), "\(refused.text)")
    #expect(source.made.isEmpty)
    for (isAllowed, mark) in [(false, "proxy"), (true, "yes")] {
      let page = await reply(from: Self.proxy, token: token, isAllowed: isAllowed)
      #expect(page.text.contains(#"data-change="\#(mark)""#))
    }
  }

  @Test("Whoever shows the token changes something through it all the same") func tokenThroughProxy() async {
    let (own, cookie) = ("https://\(Self.host)", "threadkeeper_token=\(sampleToken)")
    for (given, status) in [(cookie, PageReply.Status.ok), (cookie + "x", .forbidden)] {
      let reply = await change(from: Self.proxy, origin: own, token: sampleToken, isAllowed: false, cookie: given)
      #expect(reply.status == status)
    }
    #expect(source.made == [.deny(id: "c1")])
  }

  @Test("Where it may change something, a page of the proxy does, and nobody else's") func changes() async {
    for origin in [nil, "null", "https://evil.example", "http://homeassistant.local"] {
      #expect(await change(from: Self.proxy, origin: origin).status == .forbidden)
    }
    let own = "https://\(Self.host)"
    #expect(await change(from: Self.proxy, origin: own, type: "text/plain").status == .badRequest)
    #expect(await change(from: "172.30.32.3", origin: own).status == .misdirected)
    #expect(source.made.isEmpty)
    #expect(await change(from: Self.proxy, origin: own).status == .ok)
    #expect(await change(from: Self.proxy, origin: own, token: sampleToken).status == .ok)
    #expect(source.made == [.deny(id: "c1"), .deny(id: "c1")])
  }

  @Test("A server takes the address from the connection, and not from a header") func connection() async throws {
    let trusting = try await RunningServer.start(trustedProxy: "127.0.0.1")
    #expect(try await trusting.get("/").status == 200)
    try await trusting.stop()
    let other = try await RunningServer.start(trustedProxy: Self.proxy)
    #expect(try await other.get("/").status == 401)
    #expect(
      try await other.get(
        "/", "X-Forwarded-For: \(Self.proxy)", "Forwarded: for=\(Self.proxy)", "X-Real-IP: \(Self.proxy)"
      ).status == 401)
    try await other.stop()
  }

  @Test("No address in the page or its exchange is absolute, so that it works below any path") func relative() async {
    let page = await reply(from: Self.proxy)
    let exchange = await source.reply(to: PageRequest("/?token=\(sampleToken)"), token: sampleToken)
    for reply in [page, exchange] {
      for absolute in ["href=\"/", "src=\"/", "url=/", "fetch(\"/", "fetch(path", "EventSource(\"/"] {
        #expect(!reply.text.contains(absolute), "\(absolute)")
      }
    }
  }
}
