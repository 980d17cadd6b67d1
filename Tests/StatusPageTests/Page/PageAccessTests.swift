// SPDX-License-Identifier: Apache-2.0

import StatusPage
import Testing

@Suite("Who sees the page")
struct PageAccessTests {
  private static let token = "0123456789abcdef"

  private func reply(_ request: PageRequest, token: String? = token) async -> PageReply {
    await PageRoutes(
      PageConfiguration(address: "127.0.0.1", port: 1, token: token), source: FixedSource()
    ).reply(to: request)
  }

  private func header(_ name: String, of reply: PageReply) -> String? {
    reply.headers.first { $0.name == name }?.value
  }

  @Test("Without a token everybody who reaches it")
  func open() async {
    let page = await reply(PageRequest("/"), token: nil)
    #expect(page.status == .ok)
    #expect(header("Content-Type", of: page) == "text/html; charset=utf-8")
    #expect(header("Content-Security-Policy", of: page)?.contains("script-src 'nonce-") == true)
    #expect(await reply(PageRequest("/?token=x"), token: nil).status == .ok)
  }

  @Test("With one, whoever shows it: as a bearer, or in the cookie that the link brings")
  func shown() async throws {
    for path in ["/", "/events", "/metrics"] {
      #expect(await reply(PageRequest(path)).status == .unauthorized, "\(path)")
      #expect(
        await reply(PageRequest(path, authorization: "Bearer \(Self.token)")).status == .ok)
      for cookie in [
        "threadkeeper_token=wrong", "threadkeeper_token=", "other=\(Self.token)", "",
        "xthreadkeeper_token=\(Self.token)",
      ] {
        #expect(await reply(PageRequest(path, cookie: cookie)).status == .unauthorized)
      }
      #expect(
        await reply(PageRequest(path, cookie: "a=b; threadkeeper_token=\(Self.token)")).status
          == .ok
      )
    }
    let link = await reply(PageRequest("/?token=\(Self.token)"))
    let cookie = try #require(header("Set-Cookie", of: link))
    // Without a path: a browser sends it to the folder of the page alone, wherever a proxy has that.
    #expect(
      cookie
        == "threadkeeper_token=\(Self.token); Max-Age=\(90 * 86_400); HttpOnly; SameSite=Strict")
    #expect(!String(decoding: link.body, as: UTF8.self).contains(Self.token))
  }

  @Test("A link with another token brings nothing, and no page holds the token")
  func wrongLink() async {
    for query in ["token=wrong", "token=", "token", "token=\(Self.token)x", "x=\(Self.token)"] {
      let reply = await reply(PageRequest("/?\(query)"))
      #expect(reply.status == .unauthorized && header("Set-Cookie", of: reply) == nil, "\(query)")
    }
    let page = await reply(PageRequest("/", cookie: "threadkeeper_token=\(Self.token)"))
    #expect(page.status == .ok && !String(decoding: page.body, as: UTF8.self).contains(Self.token))
  }
}
