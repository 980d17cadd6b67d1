// SPDX-License-Identifier: Apache-2.0

import StatusPage
import Testing

struct PageRoutesTests {
  private static let token = "0123456789abcdef"

  private let source = FixedSource()

  private func reply(_ request: PageRequest, token: String? = nil) async -> PageReply {
    await PageRoutes(
      PageConfiguration(address: "127.0.0.1", port: 1, names: ["keeper"], token: token),
      source: source
    ).reply(to: request)
  }

  private func text(_ reply: PageReply) -> String { String(decoding: reply.body, as: UTF8.self) }

  @Test("The daemon is alive when it answers, with a token as without")
  func alive() async {
    for token in [nil, Self.token] {
      let reply = await reply(PageRequest("/healthz"), token: token)
      #expect(reply.status == .ok && text(reply) == "{\"status\":\"ok\"}\n")
    }
  }

  @Test("It is ready when everything works, and says what does not and why")
  func ready() async {
    let ready = await reply(PageRequest("/readyz"))
    #expect(ready.status == .ok)
    #expect(
      text(ready)
        == #"{"checks":[{"name":"broker","ok":true},{"name":"store","ok":true}],"ready":true}"#
        + "\n")
    source.readiness = Readiness([
      .init("broker", ok: false, reason: "no route"), .init("store", ok: true, reason: "unused"),
    ])
    let other = await reply(PageRequest("/readyz"))
    #expect(other.status == .unavailable)
    #expect(
      text(other)
        == #"{"checks":[{"name":"broker","ok":false,"reason":"no route"},"#
        + #"{"name":"store","ok":true}],"ready":false}"# + "\n")
  }

  @Test("With a token, whoever does not show it learns whether it is ready, and not why")
  func reasons() async {
    source.readiness = Readiness([.init("broker", ok: false, reason: "no route")])
    for shown in [nil, "Bearer", "Bearer wrong", "Bearer \(Self.token)x", "Basic \(Self.token)"] {
      let reply = await reply(PageRequest("/readyz", authorization: shown), token: Self.token)
      #expect(reply.status == .unavailable && !text(reply).contains("no route"))
    }
    for shown in ["Bearer \(Self.token)", "bearer \(Self.token)"] {
      let reply = await reply(PageRequest("/readyz", authorization: shown), token: Self.token)
      #expect(text(reply).contains("no route"))
    }
  }

  @Test("A request for another host is refused, whatever it asks for")
  func hosts() async {
    for path in ["/healthz", "/nothing"] {
      #expect(await reply(PageRequest(path, host: "evil.example")).status == .misdirected)
      #expect(await reply(PageRequest(path, host: nil)).status == .badRequest)
    }
    #expect(await reply(PageRequest("/healthz", host: "keeper:1")).status == .ok)
  }

  @Test("What is only read takes no other method, and what is not there is not found")
  func methods() async {
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
      let refusal = await reply(PageRequest("/healthz", method: method))
      #expect(refusal.status == .notAllowed)
      #expect(refusal.headers.contains { $0 == ("Allow", "GET, HEAD") })
    }
    for path in ["/nothing", "/healthz/", "//healthz", "/HEALTHZ", "", "*", "/../healthz"] {
      #expect(await reply(PageRequest(path)).status == .notFound, "\(path)")
    }
  }
}
