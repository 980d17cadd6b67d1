// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Time limit of a pending request")
struct PendingLifeTests {
  private let pending = PendingConsent(
    ConsentRequest(.preferred, by: .phone, reply: .socket), id: .make(.request), now: 1_000_000)

  @Test("A request is over after exactly 120 seconds")
  func timeout() {
    #expect(!PendingLife.isOver(pending, now: 1_000_000))
    #expect(!PendingLife.isOver(pending, now: 1_119_999))
    #expect(PendingLife.isOver(pending, now: 1_120_000))
  }

  @Test("A request is over when the clock is set back by an hour, not by seconds")
  func clockSetBack() {
    #expect(!PendingLife.isOver(pending, now: 990_000), "a clock is corrected by seconds")
    #expect(PendingLife.isOver(pending, now: 1_000_000 - 3_600_000))
  }
}
