// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bridge

@Suite("The store that comes to rest") struct RestWatchTests {
  /// At which of the ticks memory is given back, by the rows that are changed at each.
  private func rests(_ rows: [Int]) -> [Int] {
    var watch = RestWatch()
    var changes = 0
    return rows.indices.filter { tick in
      changes += rows[tick]
      return watch.tick(changes: changes)
    }
  }

  @Test("Memory is given back after three ticks without a change, and once")
  func once() {
    #expect(rests([500, 0, 0, 0, 0, 0, 0, 0]) == [3])
  }

  @Test("A burst begins the wait again")
  func burst() {
    #expect(rests([500, 0, 0, 101, 0, 0, 0, 0]) == [6])
  }

  @Test("While much is changed at each tick, nothing is given back")
  func busy() {
    #expect(rests(Array(repeating: 101, count: 20)) == [])
  }

  @Test("What a home changes all the time is no work")
  func signsOfLife() {
    #expect(rests(Array(repeating: 100, count: 20)) == [3])
  }

  @Test("After later work it is given back once more")
  func again() {
    #expect(rests([1, 0, 0, 0, 0, 900, 0, 0, 0, 0]) == [3, 8])
  }
}
