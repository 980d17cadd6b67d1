// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

@Suite struct RouterTableTests {
  /// The same numbers in each run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private static func router(_ agent: UInt64, _ name: String? = nil) -> Router {
    var router = Router(.number(agent), at: WireTime(milliseconds: 0))
    router.name = name
    return router
  }

  @Test(
    "Holds what a dictionary would hold, and no copy changes with it",
    arguments: 1...8 as ClosedRange<UInt64>)
  func model(_ seed: UInt64) {
    var numbers = Numbers(state: seed)
    var table = RouterTable()
    var expected: [UInt64: (name: String, seen: Int64)] = [:]
    var copies: [(RouterTable, [UInt64: String])] = []
    for step in 1...2_000 {
      let agent = UInt64.random(in: 1...600, using: &numbers)
      let now = WireTime(milliseconds: Int64(step))
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0..<6:
        table.set(Self.router(agent, "\(step)"), firstSeen: now)
        expected[agent] = ("\(step)", expected[agent]?.seen ?? now.milliseconds)
      case 6..<8:
        table.remove(.number(agent))
        expected[agent] = nil
      default:
        table.see(.number(agent), at: now)
        if expected[agent] != nil { expected[agent]?.seen = now.milliseconds }
      }
      if step % 500 == 0 { copies.append((table, expected.mapValues(\.name))) }
    }
    #expect(table.count == expected.count)
    for agent: UInt64 in 1...600 {
      #expect(table[.number(agent)]?.name == expected[agent]?.name)
      #expect(table.lastSeen(.number(agent)).milliseconds == expected[agent]?.seen ?? 0)
    }
    for (copy, names) in copies {
      #expect(Set(copy.map { $0.name ?? "" }) == Set(names.values) && copy.count == names.count)
    }
  }

  @Test("Two tables are equal that have the same routers, whenever these were seen and came")
  func equal() {
    let now = WireTime(milliseconds: 5)
    var one = RouterTable()
    var other = RouterTable()
    for agent: UInt64 in 1...3 { one.set(Self.router(agent), firstSeen: now) }
    for agent: UInt64 in [3, 2, 1] {
      other.set(Self.router(agent), firstSeen: now.adding(seconds: 9))
    }
    #expect(one == other)
    other.set(Self.router(2, "Attic"), firstSeen: now)
    #expect(one != other)
  }

  @Test("A clock that is set back lets nothing have been seen later than now")
  func notLater() {
    var table = RouterTable()
    table.set(Self.router(1), firstSeen: WireTime(milliseconds: 5))
    table.set(Self.router(2), firstSeen: WireTime(milliseconds: 50))
    table.seeNotLater(than: WireTime(milliseconds: 9))
    #expect(
      table.lastSeen(.number(1)).milliseconds == 5 && table.lastSeen(.number(2)).milliseconds == 9)
  }

  @Test(
    "The numbers of a router agree with a model that forgets nothing",
    arguments: 1...8 as ClosedRange<UInt64>)
  func window(_ seed: UInt64) {
    var numbers = Numbers(state: seed)
    var window = SequenceWindow()
    var seen: Set<UInt64> = []
    var high: UInt64 = 0
    for _ in 1...500 {
      let low = high > 90 ? high - 90 : 0
      let number = UInt64.random(in: low...high + 20, using: &numbers)
      let verdict = window.take(.number(number))
      if seen.isEmpty || number > high {
        #expect(verdict == .news)
        high = number
      } else {
        let isKnown = seen.contains(number) && high - number < 64
        #expect(verdict == (isKnown ? .duplicate : .outOfOrder))
      }
      seen.insert(number)
    }
  }
}
