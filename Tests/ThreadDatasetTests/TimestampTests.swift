// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Timestamp")
struct TimestampTests {
  @Test("Seconds, ticks and the authoritative bit are read from their places")
  func parts() throws {
    let dataset = try OperationalDataset(hex: "0e08123456789abcffff")
    let timestamp = try #require(dataset.activeTimestamp)
    #expect(timestamp.seconds == 0x1234_5678_9ABC)
    #expect(timestamp.ticks == 0x7FFF)
    #expect(timestamp.isAuthoritative)
    #expect(try OperationalDataset(.activeTimestamp(timestamp)) == dataset)
  }

  @Test("Order and equality are those of seconds and ticks")
  func order() throws {
    let first = try #require(Timestamp(seconds: 1, ticks: 5))
    let authoritative = try #require(Timestamp(seconds: 1, ticks: 5, isAuthoritative: true))
    let later = try #require(Timestamp(seconds: 1, ticks: 6))
    let latest = try #require(Timestamp(seconds: 2))
    #expect(first == authoritative)
    #expect(Set([first, authoritative]).count == 1)
    #expect(!(first < authoritative) && !(authoritative < first))
    #expect(authoritative < later)
    #expect(later < latest)
  }

  @Test("Out of range is no timestamp; later stops at the end")
  func range() throws {
    #expect(Timestamp(seconds: 1 << 48) == nil)
    #expect(Timestamp(seconds: 0, ticks: 1 << 15) == nil)
    let last = try #require(Timestamp(seconds: (1 << 48) - 1, ticks: 3))
    #expect(last.later() == last)
    #expect(last.later(bySeconds: .max) == last)
    #expect(Timestamp(seconds: 1)?.later(bySeconds: 4) == Timestamp(seconds: 5))
  }
}
