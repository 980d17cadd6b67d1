// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
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
    func take(_ count: Int64, after seconds: Int = 0) -> [Int64] {
      let more = count == 0 ? [:] : ["bad_dataset": Rejections(count: count)]
      return lines.take(more, at: now.adding(seconds: seconds)).map(\.rejected.count)
    }
    #expect(take(1) == [1])
    #expect(take(2) == [])
    #expect(take(3, after: 10) == [5])
    #expect(take(4, after: -900) == [])
    lines.clockJumped()
    #expect(take(0, after: -900) == [4])
    #expect(take(1, after: -899) == [])
  }
}
