// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("How often a user may ask")
struct RequestLimiterTests {
  private let limiter = RequestLimiter()

  private func verdicts(
    _ count: Int, _ user: String = "anna", _ command: String = "ping", at time: Int64
  ) -> [Int] {
    var counts = [0, 0, 0]
    for _ in 0..<count {
      switch limiter.judge(user, command, now: WireTime(milliseconds: time)) {
      case .allowed: counts[0] += 1
      case .refused: counts[1] += 1
      case .ignored: counts[2] += 1
      }
    }
    return counts
  }

  @Test("Fifty at once, then ten a second; ten refusals a second are answered, the rest is counted")
  func bucket() {
    #expect(verdicts(100, at: 0) == [50, 10, 40])
    #expect(verdicts(100, at: 1_000) == [10, 10, 80])
    #expect(verdicts(3, at: 1_200) == [2, 1, 0])
    #expect(verdicts(100, at: 60_000) == [50, 10, 40])
  }

  @Test("A list counts as five, because it may look at all that is stored")
  func lists() {
    #expect(verdicts(20, "anna", "credentials/list", at: 0)[0] == 10)
    #expect(verdicts(9, "bob", "routers/list", at: 0)[0] == 9)
    #expect(verdicts(9, "bob", at: 0)[0] == 5)
    #expect(verdicts(9, "bob", "networks/nearby", at: 1_000)[0] == 2)
    #expect(verdicts(20, "carl", "consent/pending", at: 0)[0] == 10)
  }

  @Test("Each user has a bucket of its own, also one whose name only looks the same")
  func users() {
    #expect(verdicts(60, "caf\u{E9}", at: 0)[0] == 50)
    #expect(verdicts(60, "cafe\u{301}", at: 0)[0] == 50)
    #expect(verdicts(1, "bob", at: 0) == [1, 0, 0])
  }

  @Test("A clock that goes back gives nothing away and locks no user out")
  func backwards() {
    #expect(verdicts(50, at: 10_000) == [50, 0, 0])
    #expect(verdicts(1, at: 0) == [0, 1, 0])
    #expect(verdicts(10, at: 1_000)[0] == 10)
  }

  @Test("However many names there are, memory has its limit")
  func manyUsers() {
    for number in 0..<(RequestLimiter.users * 2) {
      #expect(verdicts(1, "user \(number)", at: 0) == [1, 0, 0])
    }
  }
}
