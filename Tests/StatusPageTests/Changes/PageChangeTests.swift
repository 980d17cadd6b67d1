import StatusPage
import Testing

@Suite("Changes on the page") struct PageChangeTests {
  private static let cookie = "threadkeeper_token=\(sampleToken)"
  private static let deny = Array(#"{"id":"c1"}"#.utf8)

  private let source = FixedSource()

  private func reply(_ request: PageRequest, token: String? = sampleToken) async -> PageReply {
    await source.reply(to: request, token: token)
  }

  private func post(
    _ path: String = "/consent/deny", _ body: [UInt8] = deny, host: String = "localhost:1",
    origin: String? = "http://localhost:1", authorization: String? = nil, cookie: String? = cookie,
    type: String? = "application/json"
  ) -> PageRequest {
    PageRequest(
      path, method: "POST", host: host, origin: origin, authorization: authorization, cookie: cookie, contentType: type,
      body: body)
  }

  @Test(
    "Each is made with the token",
    arguments: [
      ("/consent/deny", #"{"id":"c1"}"#, .deny(id: "c1")),
      ("/consent/ask", #"{"home":"h","border_agent_id":"a"}"#, .askAgain(home: "h", router: "a")),
      ("/consent/approve", #"{"id":"c1"}"#, .approve(id: "c1", always: false)),
      ("/consent/approve", #"{"id":"c1","always":true}"#, .approve(id: "c1", always: true)),
      ("/alerts/test", #"{"home":"a"}"#, .testAlert(home: "a")),
      ("/alerts/confirm", #"{"home":"a"}"#, .confirmAlerts(home: "a")),
      ("/networks/accept", #"{"home":"a","ext_pan_id":"b"}"#, .acceptNetwork(home: "a", network: "b", accepted: true)),
      (
        "/networks/accept", #"{"home":"a","ext_pan_id":"b","accepted":false}"#,
        .acceptNetwork(home: "a", network: "b", accepted: false)
      ), ("/networks/prefer", #"{"home":"a","ext_pan_id":"b"}"#, .prefer(home: "a", network: "b")),
      ("/networks/join", #"{"code":"916371366"}"#, .join(code: "916371366", router: nil, anyway: false)),
      (
        "/networks/join", #"{"code":"1","border_agent_id":"a","anyway":true}"#,
        .join(code: "1", router: "a", anyway: true)
      ), ("/networks/keep", #"{"home":"a","id":"t"}"#, .keepKeys(home: "a", since: "t")),
      ("/networks/forget", #"{"home":"a","ext_pan_id":"b"}"#, .forgetPreferred(home: "a", network: "b")),
      ("/networks/share", #"{"home":"a","ext_pan_id":"b"}"#, .share(home: "a", network: "b")),
      ("/routers/accept", #"{"home":"a","border_agent_id":"b"}"#, .acceptRouter(home: "a", router: "b")),
      ("/routers/forget", #"{"home":"a","border_agent_id":"b"}"#, .forgetRouter(home: "a", router: "b")),
      ("/routers/read", #"{"border_agent_id":"b"}"#, .readRouter(router: "b")),
      ("/keys/recovery-code", "{}", .makeRecoveryCode),
      ("/keys/confirm", #"{"code":"A1B2C"}"#, .confirmRecoveryCode(group: "A1B2C")),
      (
        "/routers/rename", #"{"home":"a","border_agent_id":"b","name":""}"#,
        .renameRouter(home: "a", router: "b", name: "")
      ),
    ] as [(String, String, PageChange)]) func made(path: String, body: String, change: PageChange) async
  {
    let reply = await reply(post(path, Array(body.utf8)))
    #expect(reply.status == .ok && source.made == [change])
    #expect(reply.text == "{\"message\":\"Done.\"}\n")
  }

  @Test("None is made without the token, also where everybody may look") func withoutToken() async {
    #expect(await reply(post(), token: nil).status == .forbidden)
    for request in [
      post(cookie: nil), post(cookie: "threadkeeper_token=x"), post(authorization: "Bearer x", cookie: nil),
    ] { #expect(await reply(request).status == .forbidden) }
    #expect(source.made.isEmpty)
  }

  @Test("None is made for a page from elsewhere, whatever the browser shows for it") func origins() async {
    for origin in [
      "http://evil.example", "http://localhost:2", "http://localhost", "null", "", "http://localhost:1.evil.example",
      "ftp://localhost:1",
    ] {
      #expect(await reply(post(origin: origin)).status == .forbidden, "\(origin)")
      #expect(
        await reply(post(origin: origin, authorization: "Bearer \(sampleToken)", cookie: nil)).status == .forbidden)
    }
    #expect(await reply(post(origin: nil)).status == .forbidden)
    #expect(await reply(post(host: "evil.example")).status == .misdirected)
    #expect(source.made.isEmpty)
    // A program that shows the token itself has no origin; a proxy has TLS.
    #expect(await reply(post(origin: nil, authorization: "Bearer \(sampleToken)", cookie: nil)).status == .ok)
    #expect(await reply(post(origin: "https://localhost:1")).status == .ok)
  }

  @Test("None is made of what a form sends, by GET, or of what does not say enough") func invalid() async {
    for type in [nil, "text/plain", "application/x-www-form-urlencoded"] {
      #expect(await reply(post(type: type)).status == .badRequest)
    }
    var get = post()
    get.method = "GET"
    #expect(await reply(get).status == .notAllowed)
    for body in ["", "{}", "[]", "{\"home\":\"a\"}", "{\"id\":1}", "{"] {
      #expect(await reply(post("/consent/deny", Array(body.utf8))).status == .badRequest)
      #expect(await reply(post("/networks/prefer", Array(body.utf8))).status == .badRequest)
    }
    #expect(source.made.isEmpty)
  }

  @Test("A code comes with the answer, to whoever may change something") func code() async {
    source.outcome.withLock { $0 = PageOutcome("Write it down.", code: "1-2-3", for: 600, confirmation: .recoveryCode) }
    let reply = await reply(post("/keys/recovery-code", Array("{}".utf8)))
    #expect(
      reply.text == #"{"code":"1-2-3","confirmation":{"label":"Its third group","path":"/keys/confirm"},"#
        + #""message":"Write it down.","seconds":600}"# + "\n")
    #expect(await self.reply(post("/keys/recovery-code", Array("{}".utf8), cookie: nil)).status == .forbidden)
    #expect(source.made == [.makeRecoveryCode])
  }

  @Test("What the daemon refuses is said with its remedy") func refused() async {
    source.refusal.withLock { $0 = PageRefusal("No.", remedy: "Do this.") }
    let reply = await reply(post())
    #expect(reply.status == .conflict)
    #expect(reply.text == "{\"message\":\"No.\",\"remedy\":\"Do this.\"}\n")
    source.refusal.withLock { $0?.choices = [.init("A", anyway: true), .init("B", router: "b")] }
    let choices = await self.reply(post()).text
    #expect(
      choices.contains(
        #""choices":[{"label":"A","with":{"anyway":true}},{"label":"B","with":{"border_agent_id":"b"}}]"#))
  }
}
