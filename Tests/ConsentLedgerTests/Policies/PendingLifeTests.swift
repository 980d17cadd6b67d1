// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("How long a request waits")
struct PendingLifeTests {
  private let pending = PendingConsent(
    ConsentRequest(.preferred, by: .phone, reply: .socket), id: .make(.request), now: 1_000_000)

  @Test("For 120 seconds, and not a millisecond longer")
  func patience() {
    #expect(!PendingLife.isOver(pending, now: 1_000_000))
    #expect(!PendingLife.isOver(pending, now: 1_119_999))
    #expect(PendingLife.isOver(pending, now: 1_120_000))
  }

  @Test("A clock that is set back does not make it wait for hours")
  func clockSetBack() {
    #expect(!PendingLife.isOver(pending, now: 990_000), "a clock is corrected by seconds")
    #expect(PendingLife.isOver(pending, now: 1_000_000 - 3_600_000))
  }
}
