// SPDX-License-Identifier: Apache-2.0

import Home
import Testing

@testable import Bridge

@Suite("How long changes on the local network are gathered")
struct DiscoveryPaceTests {
  private let start = WireTime(milliseconds: 1_000_000)

  @Test("A few changes are written at once, more and more of them ever later, up to a limit")
  func delays() {
    var pace = DiscoveryPace()
    let delays = (0..<20).map { pace.delay(at: start.adding(seconds: $0)) }
    #expect(delays.prefix(8).allSatisfy { $0 == 250 })
    #expect(delays[8...14] == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    #expect(delays[15...].allSatisfy { $0 == 30_000 })
  }

  @Test("After a minute without a change it is quick again, also when the clock is set back")
  func rest() {
    var pace = DiscoveryPace()
    for second in 0..<12 { _ = pace.delay(at: start.adding(seconds: second)) }
    #expect(pace.delay(at: start.adding(seconds: 72)) == 250)
    for second in 73..<90 { _ = pace.delay(at: start.adding(seconds: second)) }
    #expect(pace.delay(at: start) == 250)
  }
}
