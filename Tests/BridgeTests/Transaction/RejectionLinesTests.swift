// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("Lines of the log about rejected messages")
struct RejectionLinesTests {
  private let now = WireTime(milliseconds: 1_000_000_000)

  @Test(
    "One line for each reason in ten seconds counts all; after a jump of the clock it is due at once"
  )
  func lines() {
    var lines = RejectionLines()
    #expect(lines.take(["not_hex": 1], at: now).map(\.count) == [1])
    #expect(lines.take(["not_hex": 2], at: now).isEmpty)
    #expect(lines.take(["not_hex": 3], at: now.adding(seconds: 10)).map(\.count) == [5])
    #expect(lines.take(["not_hex": 4], at: now.adding(seconds: -900)).isEmpty)
    lines.clockJumped()
    #expect(lines.take([:], at: now.adding(seconds: -900)).map(\.count) == [4])
    #expect(lines.take(["not_hex": 1], at: now.adding(seconds: -899)).isEmpty)
  }
}
