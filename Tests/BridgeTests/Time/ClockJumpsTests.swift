// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("Noticing that the clock was set")
struct ClockJumpsTests {
  private func moment(_ wall: Int64, _ steady: Int64) -> ClockMoment {
    ClockMoment(wall: WireTime(milliseconds: wall), steady: steady)
  }

  @Test(
    "Time that passes on both clocks is no jump, however long, nor is what a time server corrects")
  func passes() {
    var jumps = ClockJumps(since: moment(1_000_000, 5_000))
    #expect(jumps.notice(moment(1_001_000, 6_000)) == nil)
    #expect(jumps.notice(moment(2_001_000, 1_006_000)) == nil)
    #expect(jumps.notice(moment(2_002_000 + 1_999, 1_007_000)) == nil)
    #expect(jumps.notice(moment(2_003_000, 1_008_000)) == nil)
  }

  @Test("Set forward or back by two seconds, or by a year, it is noticed once, with how far")
  func jumps() {
    let year: Int64 = 31_536_000_000
    for jump in [2_000, -2_000, year, -year] {
      var jumps = ClockJumps(since: moment(1_000_000, 5_000))
      jumps.shifted()
      #expect(jumps.notice(moment(1_001_000 + jump, 6_000)) == jump)
      #expect(jumps.notice(moment(1_002_000 + jump, 7_000)) == nil)
      #expect(jumps.pendingShift == jump)
    }
  }

  @Test(
    "What is owed to the store adds up until it is settled, and is looked at when the daemon starts"
  )
  func owed() {
    var jumps = ClockJumps(since: moment(0, 0))
    #expect(jumps.pendingShift == 0)
    _ = jumps.notice(moment(10_000, 0))
    _ = jumps.notice(moment(15_000, 0))
    #expect(jumps.pendingShift == 15_000)
    jumps.shifted()
    #expect(jumps.pendingShift == nil)
    _ = jumps.notice(moment(0, 0))
    #expect(jumps.pendingShift == -15_000)
  }
}
