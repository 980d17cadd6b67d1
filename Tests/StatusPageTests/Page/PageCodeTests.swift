import Synchronization
import TestKit
import Testing

@testable import StatusPage

@Suite("A short code in place of the link") struct PageCodeTests {
  /// When it is, for a code.
  private final class Moment: Sendable {
    private let start = ContinuousClock.now
    private let passed = Mutex(Duration.zero)

    var now: ContinuousClock.Instant { start + passed.withLock { $0 } }

    func pass(_ time: Duration) { passed.withLock { $0 += time } }
  }

  /// How many codes were ended by wrong ones.
  private final class UsedUp: Sendable { let count = Mutex(0) }

  private static let missing = "No code is valid now."

  private let moment = Moment()
  private let usedUp = UsedUp()
  private let routes: PageRoutes

  init() {
    let moment = moment
    routes = PageRoutes(
      PageConfiguration(port: 1, token: sampleToken), source: FixedSource(), now: { moment.now },
      codeUsedUp: { [usedUp] in usedUp.count.withLock { $0 += 1 } })
  }

  private func enter(_ code: some StringProtocol, host: String = "localhost:1", origin: String? = "http://localhost:1")
    async -> PageReply
  {
    await routes.reply(
      to: PageRequest(
        "/", method: "POST", host: host, origin: origin, contentType: "application/x-www-form-urlencoded",
        body: Array("code=\(code)".utf8)))
  }

  /// Eight digits that are not the code.
  private func other(than code: String) -> String { code == "00000000" ? "00000001" : "00000000" }

  private func isLetIn(_ reply: PageReply) -> Bool { reply.status == .seeOther && !reply.values("Set-Cookie").isEmpty }

  @Test("Without the token the page asks for it, by a labelled form that needs no script") func form() async throws {
    for path in ["/", "/?token=wrong"] {
      let page = await routes.reply(to: PageRequest(path))
      #expect(page.status == .unauthorized && page.values("Content-Type") == ["text/html; charset=utf-8"])
      for part in [
        #"<form class="card" method="post" action="./">"#, "<label>Type the code that <code>threadkeeper page code",
        #"name="code" inputmode="numeric" autocomplete="one-time-code""#,
        "threadkeeper page token</code> prints always works", #"<html lang="en">"#,
      ] { #expect(page.text.contains(part), "\(part)") }
      #expect(!page.text.contains("<script") && !page.text.contains(sampleToken))
      let policy = try #require(page.values("Content-Security-Policy").first)
      #expect(policy.contains("form-action 'self'; frame-ancestors 'none'"), "\(policy)")
      // Else no browser would name the origin of the form.
      #expect(page.values("Referrer-Policy") == ["same-origin"])
    }
    #expect(PageDocument.policy(nonce: "n").contains("form-action 'none'"))
  }

  @Test("The right one brings what the link brings, and leads to the page") func right() async {
    let code = routes.access.code.make()
    #expect(code.utf8.count == 8 && code.allSatisfy { ("0"..."9").contains($0) })
    let reply = await enter(code)
    let link = await routes.reply(to: PageRequest("/?token=\(sampleToken)"))
    #expect(reply.status == .seeOther && reply.values("Location") == ["./"])
    #expect(reply.values("Set-Cookie") == link.values("Set-Cookie") && reply.body.isEmpty)
    let cookie = "threadkeeper_token=\(sampleToken)"
    #expect(await routes.reply(to: PageRequest("/", cookie: cookie)).status == .ok)
  }

  @Test("It may be typed as it is printed", arguments: ["+", "%20", "-", "%C2%A0", "+%E2%80%93+"]) func typed(
    separator: String
  ) async {
    let code = routes.access.code.make()
    #expect(isLetIn(await enter("+\(code.prefix(4))\(separator)\(code.suffix(4))+&x=1")))
  }

  @Test("It is used once") func once() async {
    let code = routes.access.code.make()
    #expect(isLetIn(await enter(code)))
    let again = await enter(code)
    #expect(again.status == .unauthorized && again.text.contains(Self.missing) && again.values("Set-Cookie") == [])
  }

  @Test("It is valid for ten minutes") func expired() async {
    let code = routes.access.code.make()
    moment.pass(.seconds(600))
    #expect(await enter(code).text.contains(Self.missing))
    let next = routes.access.code.make()
    moment.pass(.seconds(599))
    #expect(isLetIn(await enter(next)))
  }

  @Test("Another one takes the place of the former one, and so does its count") func another() async {
    let first = routes.access.code.make()
    for _ in 1...4 { _ = await enter(other(than: first)) }
    var second = routes.access.code.make()
    while second == first { second = routes.access.code.make() }
    #expect(await enter(first).text.contains("You can try 4 more."))
    #expect(isLetIn(await enter(second)))
  }

  @Test("Nothing but the same bytes is the same, wherever and however many differ") func same() {
    let secrets = [Array("00000000".utf8), Array("12345678".utf8), Array("zZ-9_0Aa".utf8)]
    for secret in secrets {
      #expect(PageAccess.isSame(secret, secret) && !PageAccess.isSame(Array(secret.dropLast()), secret))
      for place in secret.indices {
        for byte in UInt8.min...UInt8.max where byte != secret[place] {
          var given = secret
          given[place] = byte
          #expect(!PageAccess.isSame(given, secret))
        }
      }
      for byte in UInt8.min...UInt8.max where secret.contains(where: { $0 != byte }) {
        #expect(!PageAccess.isSame(Array(repeating: byte, count: secret.count), secret))
      }
      for _ in 1...20_000 {
        let given = secret.map { _ in UInt8.random(in: 0x30...0x39) }
        #expect(PageAccess.isSame(given, secret) == (given == secret))
      }
    }
  }

  @Test("After five wrong ones the right one is refused, whoever has typed them") func fiveWrong() async {
    let code = routes.access.code.make()
    for left in (1...4).reversed() {
      let reply = await enter(other(than: code))
      #expect(reply.status == .unauthorized && reply.values("Set-Cookie") == [])
      #expect(reply.text.contains("You can try \(left) more.") && reply.text.contains(#"aria-describedby="problem""#))
    }
    #expect(usedUp.count.withLock { $0 } == 0)
    #expect(await enter(other(than: code)).text.contains("That is not the code. Make another one"))
    #expect(await enter(code).text.contains(Self.missing))
    // The log says so once.
    #expect(usedUp.count.withLock { $0 } == 1)
  }

  @Test("What is no code of eight digits is not counted") func unfinished() async {
    let code = routes.access.code.make()
    for text in ["", "1234567", "123456789", "abcdefgh", "%31%32%33%34%35%36%37%38", "&code=\(code)"] {
      #expect(await enter(text).text.contains("The code has 8 digits."), "\(text)")
    }
    #expect(isLetIn(await enter(code)))
  }

  @Test("A page from elsewhere tries none, nor does a link") func origins() async {
    let code = routes.access.code.make()
    for origin in [nil, "null", "", "http://evil.example", "http://localhost:2", "http://localhost"] {
      #expect(await enter(code, origin: origin).status == .forbidden, "\(origin ?? "")")
    }
    #expect(await enter(code, host: "evil.example", origin: "http://evil.example").status == .misdirected)
    for method in ["GET", "HEAD", "PUT"] {
      let reply = await routes.reply(
        to: PageRequest(
          "/?code=\(code)", method: method, host: "localhost:1", origin: "http://localhost:1",
          body: Array("code=\(code)".utf8)))
      #expect(reply.values("Set-Cookie") == [], "\(method)")
    }
    #expect(isLetIn(await enter(code, origin: "https://localhost:1")))
  }

  @Test("Where there is no token there is none to get: nothing is asked for") func noToken() async {
    let open = PageRoutes(PageConfiguration(port: 1), source: FixedSource())
    let code = open.access.code.make()
    let reply = await open.reply(
      to: PageRequest("/", method: "POST", origin: "http://localhost", body: Array("code=\(code)".utf8)))
    #expect(reply.status == .notAllowed)
    #expect(!(await open.reply(to: PageRequest("/")).text.contains("<label>Type the code")))
  }

  @Test("A server takes it from a form, and another token revokes it") func server() async throws {
    let running = try await RunningServer.start(token: sampleToken)
    func enter(_ code: String) async throws -> RawAnswer {
      let body = "code=\(code.prefix(4))+\(code.suffix(4))"
      return try await running.answer(
        "POST / HTTP/1.1",
        "Origin: http://localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
    #expect(try await running.get("/").status == 401)
    let code = running.server.makeCode()
    #expect(code.minutes == 10)
    let entered = try await enter(code.digits)
    #expect(entered.status == 303 && entered.headers["location"] == "./")
    #expect(entered.headers["set-cookie"]?.hasPrefix("threadkeeper_token=\(sampleToken);") == true)
    let revoked = running.server.makeCode()
    _ = try running.server.findOrMakeToken(replacing: true) { "another-token-123" }
    let refused = try await enter(revoked.digits)
    #expect(refused.status == 401 && refused.body.contains(Self.missing))
    try await running.stop()
  }
}
