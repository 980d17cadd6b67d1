// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Testing

@Suite("Which agent of a process publishes for a router")
struct RouterCensusTests {
  private let first: HTTPAddress
  private let second: HTTPAddress

  init() throws {
    first = try #require(HTTPAddress("http://127.0.0.1:1"))
    second = try #require(HTTPAddress("http://127.0.0.1:2"))
  }

  @Test("Two addresses of one router: the first agent publishes, again and again")
  func duplicate() throws {
    let census = RouterCensus()
    let router = try Sample.agent()
    for _ in 0..<3 {
      #expect(census.owner(of: router, seenAt: first) == first)
      #expect(census.owner(of: router, seenAt: second) == first)
    }
    #expect(census.seen(besides: first) == [router])
  }

  @Test("Two routers swap their addresses: each agent publishes for the other one soon")
  func swap() throws {
    let census = RouterCensus()
    let (one, two) = (try Sample.agent("1"), try Sample.agent("2"))
    #expect(census.owner(of: one, seenAt: first) == first)
    #expect(census.owner(of: two, seenAt: second) == second)
    // Swapped, and the second one has not looked yet.
    #expect(census.owner(of: two, seenAt: first) == second)
    #expect(census.owner(of: one, seenAt: second) == second)
    #expect(census.owner(of: two, seenAt: first) == first)
    #expect(census.seen(besides: first) == [one] && census.seen(besides: second) == [two])
  }
}
