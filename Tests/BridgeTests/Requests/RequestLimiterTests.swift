// SPDX-License-Identifier: Apache-2.0

import Bridge
import Home
import Testing
import ThreadRequests

@Suite("How often users may ask")
struct RequestLimiterTests {
  private let limiter = RequestLimiter()
  private let now = WireTime(milliseconds: 1_700_000_000_000)

  private func ask(
    _ user: ExactName = "phone", _ command: String = "ping", items: Int = 0, after: Int = 0
  ) -> RequestLimiter.Verdict {
    limiter.judge(user, command, items: { items }, at: now.adding(seconds: after))
  }

  @Test("Fifty at once, ten a second, and ten refusals a second are answered")
  func burst() {
    for _ in 0..<50 { #expect(ask() == .allowed) }
    for _ in 0..<10 { #expect(ask() == .refused) }
    #expect(ask() == .ignored)
    #expect(ask("caf\u{E9}") == .allowed)
    #expect(ask("cafe\u{301}") == .allowed)
    for _ in 0..<10 { #expect(ask(after: 1) == .allowed) }
    #expect(ask(after: 1) == .refused)
  }

  @Test(
    "A list counts as five, and items that are looked at cost more",
    arguments: [
      ("ping", 1, 0), ("anything", 1, 0), ("credentials/get", 1, 0), ("credentials/list", 5, 20),
      ("network/get", 1, 20), ("preferred/get", 1, 20), ("networks/nearby", 5, 20),
      ("routers/list", 5, 5), ("consent/pending", 5, 5),
    ])
  func prices(_ command: String, _ price: Int, _ work: Int) {
    #expect(RequestLimiter.price(of: command) == price)
    #expect(RequestLimiter.work(of: command) { 2_000 } == work)
  }

  @Test("The next request waits for what one owes")
  func debt() {
    #expect(ask("phone", "credentials/list", items: 10_000) == .allowed)
    #expect(ask(after: 5) == .refused)
    #expect(ask(after: 6) == .allowed)
  }
}
