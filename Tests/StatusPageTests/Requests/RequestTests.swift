import Foundation
import Testing

@testable import StatusPage

@Suite("What is answered") struct PageRoutesTests {
  private let source = FixedSource()

  private func reply(_ request: PageRequest, token: String? = nil) async -> PageReply {
    await source.reply(to: request, token: token) { $0.http.names = ["keeper"] }
  }

  @Test("The daemon is alive when it answers, with a token as without") func alive() async {
    for token in [nil, sampleToken] {
      let reply = await reply(PageRequest("/healthz"), token: token)
      #expect(reply.status == .ok && reply.text == "{\"status\":\"ok\"}\n")
    }
  }

  @Test("It is ready when everything works, and says what does not and why") func ready() async {
    let ready = await reply(PageRequest("/readyz"))
    #expect(ready.status == .ok)
    #expect(ready.text == #"{"checks":[{"name":"broker","ok":true},{"name":"store","ok":true}],"ready":true}"# + "\n")
    source.readiness = Readiness([
      .init("broker", ok: false, reason: "no route"), .init("store", ok: true, reason: "unused"),
    ])
    let other = await reply(PageRequest("/readyz"))
    #expect(other.status == .unavailable)
    #expect(
      other.text == #"{"checks":[{"name":"broker","ok":false,"reason":"no route"},"#
        + #"{"name":"store","ok":true}],"ready":false}"# + "\n")
  }

  @Test("With a token, whoever does not show it learns whether it is ready, and not why") func reasons() async {
    source.readiness = Readiness([.init("broker", ok: false, reason: "no route")])
    for shown in [nil, "Bearer", "Bearer wrong", "Bearer \(sampleToken)x", "Basic \(sampleToken)"] {
      let reply = await reply(PageRequest("/readyz", authorization: shown), token: sampleToken)
      #expect(reply.status == .unavailable && !reply.text.contains("no route"))
    }
    for shown in ["Bearer \(sampleToken)", "bearer \(sampleToken)"] {
      let reply = await reply(PageRequest("/readyz", authorization: shown), token: sampleToken)
      #expect(reply.text.contains("no route"))
    }
  }

  @Test("A request for another host is refused, whatever it asks for") func hosts() async {
    for path in ["/healthz", "/nothing"] {
      #expect(await reply(PageRequest(path, host: "evil.example")).status == .misdirected)
      #expect(await reply(PageRequest(path, host: nil)).status == .badRequest)
    }
    #expect(await reply(PageRequest("/healthz", host: "keeper:1")).status == .ok)
  }

  @Test("What is only read takes no other method, and what is not there is not found") func methods() async {
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
      let refusal = await reply(PageRequest("/healthz", method: method))
      #expect(refusal.status == .notAllowed)
      #expect(refusal.values("Allow") == ["GET, HEAD"])
    }
    for path in ["/nothing", "/healthz/", "//healthz", "/HEALTHZ", "", "*", "/../healthz"] {
      #expect(await reply(PageRequest(path)).status == .notFound, "\(path)")
    }
  }
}

@Suite("The blueprints for Home Assistant") struct BlueprintTests {
  private func reply(_ request: PageRequest) async -> PageReply {
    await FixedSource().reply(to: request, token: sampleToken) { $0.http.trustedProxy = "172.30.32.2" }
  }

  @Test("Each of the examples is served as it is, without the token, and nothing beside them") func served()
    async throws
  {
    let examples = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../examples/home-assistant")
      .standardized
    let mark = "-blueprint.yaml"
    let names = try FileManager.default.contentsOfDirectory(atPath: examples.path).filter { $0.hasSuffix(mark) }
    #expect(!names.isEmpty && names.count == Blueprints.files.count)
    for name in names {
      let path = "/blueprints/\(name.dropLast(mark.count)).yaml"
      let reply = await reply(PageRequest(path, host: "192.168.1.2:8423", peer: "172.30.32.1"))
      #expect(reply.status == .ok, "\(path)")
      #expect(reply.values("Content-Type") == ["application/yaml"])
      #expect(reply.body == Array(try Data(contentsOf: examples.appendingPathComponent(name))))
    }
  }

  @Test("They are only read, under their names alone, by whoever names this host") func others() async throws {
    for path in Blueprints.files.keys {
      #expect(await reply(PageRequest(path, method: "HEAD")).status == .ok)
      for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let refusal = await reply(PageRequest(path, method: method))
        #expect(refusal.status == .notAllowed && refusal.values("Allow") == ["GET, HEAD"])
      }
      #expect(await reply(PageRequest(path, host: "evil.example")).status == .misdirected)
      for other in [
        "\(path)/", "/\(path)", path.uppercased(), String(path.dropLast(5)),
        path.replacing(".yaml", with: "-blueprint.yaml"),
      ] { #expect(await reply(PageRequest(other)).status == .notFound, "\(other)") }
    }
    for path in [
      "/blueprints", "/blueprints/", "/blueprints/other.yaml", "/blueprints/page.js", "/blueprints/../page.css",
      "/page.js",
    ] { #expect(await reply(PageRequest(path)).status == .notFound, "\(path)") }
  }
}

@Suite("Who sees the page") struct PageAccessTests {
  private func reply(_ request: PageRequest, token: String? = sampleToken) async -> PageReply {
    await FixedSource().reply(to: request, token: token)
  }

  @Test("Without a token everybody who reaches it") func open() async {
    let page = await reply(PageRequest("/"), token: nil)
    #expect(page.status == .ok)
    #expect(page.values("Content-Type") == ["text/html; charset=utf-8"])
    #expect(page.values("Content-Security-Policy").map { $0.contains("script-src 'nonce-") } == [true])
    #expect(await reply(PageRequest("/?token=x"), token: nil).status == .ok)
  }

  @Test("With one, whoever shows it: as a bearer, or in the cookie that the link brings") func shown() async {
    for path in ["/", "/events", "/metrics"] {
      #expect(await reply(PageRequest(path)).status == .unauthorized, "\(path)")
      #expect(await reply(PageRequest(path, authorization: "Bearer \(sampleToken)")).status == .ok)
      for cookie in [
        "threadkeeper_token=wrong", "threadkeeper_token=", "other=\(sampleToken)", "",
        "xthreadkeeper_token=\(sampleToken)",
      ] { #expect(await reply(PageRequest(path, cookie: cookie)).status == .unauthorized) }
      #expect(await reply(PageRequest(path, cookie: "a=b; threadkeeper_token=\(sampleToken)")).status == .ok)
    }
    let link = await reply(PageRequest("/?token=\(sampleToken)"))
    // Without a path: a browser sends it to the folder of the page alone, wherever a proxy has that.
    #expect(
      link.values("Set-Cookie") == ["threadkeeper_token=\(sampleToken); Max-Age=\(90 * 86_400); HttpOnly; SameSite=Lax"]
    )
    #expect(!link.text.contains(sampleToken))
  }

  @Test("A link with another token brings nothing, and no page holds the token") func wrongLink() async {
    for query in ["token=wrong", "token=", "token", "token=\(sampleToken)x", "x=\(sampleToken)"] {
      let reply = await reply(PageRequest("/?\(query)"))
      #expect(reply.status == .unauthorized && reply.values("Set-Cookie") == [], "\(query)")
    }
    let page = await reply(PageRequest("/", cookie: "threadkeeper_token=\(sampleToken)"))
    #expect(page.status == .ok && !page.text.contains(sampleToken))
  }
}

@Suite("Which hosts are meant") struct HostCheckTests {
  private let check = HostCheck(names: ["Keeper.home.arpa"])

  @Test(
    "This machine, an address and a listed name are meant for here",
    arguments: [
      "localhost", "localhost:8423", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.1:8423", "192.168.1.2:80",
      "[::1]", "[::1]:8423", "[fe80::1]", "keeper.home.arpa", "KEEPER.home.arpa.:8423",
    ]) func allowed(host: String)
  { #expect(check.allows(host)) }

  @Test(
    "Any other name is not, nor what is no host",
    arguments: [
      "", "evil.example", "evil.example:8423", "localhost.evil.example", "keeper.home.arpa.evil",
      "127.0.0.1.evil.example", "1.2.3", "localhost:", "localhost:x", "localhost:99999", "localhost:1:2", "[::1",
      "[::1]x", "[evil]", "::1", "localhost@evil.example", " localhost",
    ]) func refused(host: String)
  { #expect(!check.allows(host)) }
}

@Suite("Places for connections") struct ConnectionTableTests {
  private func table() -> ConnectionTable {
    ConnectionTable(most: 8, healthChecks: 1, mostOfPeer: 2, unlimited: PeerAddress("192.168.1.9"))
  }

  @Test(
    "One address of another machine has so many places, loopback and the proxy all",
    arguments: [
      ("192.168.1.5", 2), ("2001:db8::1", 2), ("fe80::1", 2), ("unreadable", 2), ("127.0.0.1", 8), ("::1", 8),
      ("192.168.1.9", 8),
    ]) func places(peer: String, most: Int)
  {
    let table = table()
    var numbers: [UInt64] = []
    for _ in 0..<8 {
      guard let place = table.add(peer) else { break }
      numbers.append(place.number)
      _ = table.keep(place.number, isHealthCheck: numbers.count > 7)
    }
    #expect(numbers.count == most)
    table.remove(numbers[0])
    #expect(table.add(peer) != nil)
  }
}
