// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperSupport

@Suite("Signals that wake a thread", .timeLimit(.minutes(10)))
struct WakeSignalTests {
  @Test("A raised signal ends the wait, also when it was raised before, until it is cleared")
  func raised() {
    let (first, second) = (WakeSignal(), WakeSignal())
    for _ in 0..<2 { second.raise() }
    let start = ContinuousClock.now
    WakeSignal.wait(for: [first, second], within: .seconds(600))
    #expect(ContinuousClock.now - start < .seconds(300))
    #expect(!first.isRaised && second.isRaised)
    for _ in 0..<2 { second.clear() }
    #expect(!second.isRaised)
    // One byte at most, so that nothing is left of two.
    WakeSignal.wait(for: [first, second], within: .milliseconds(20))
    #expect(ContinuousClock.now - start > .milliseconds(20))
  }

  @Test("Times for poll are rounded up, and never negative or too large")
  func milliseconds() {
    #expect(Duration.microseconds(1).pollMilliseconds == 1)
    #expect(Duration.milliseconds(5).pollMilliseconds == 6)
    #expect(Duration.seconds(-5).pollMilliseconds == 0)
    #expect(Duration.seconds(1 << 40).pollMilliseconds == 1 << 30)
  }
}
