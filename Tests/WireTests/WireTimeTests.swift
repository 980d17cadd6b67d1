import Foundation
import Home
import TestKit
import Testing

@Suite("Times on the wire") struct WireTimeTests {
  @Test(
    "Known dates",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (999, "1970-01-01T00:00:00Z"), (1_000, "1970-01-01T00:00:01Z"),
      (-1, "1969-12-31T23:59:59Z"), (-1_000, "1969-12-31T23:59:59Z"), (-1_001, "1969-12-31T23:59:58Z"),
      (-86_400_000, "1969-12-31T00:00:00Z"), (951_782_399_000, "2000-02-28T23:59:59Z"),
      (951_782_400_000, "2000-02-29T00:00:00Z"), (951_868_800_000, "2000-03-01T00:00:00Z"),
      (1_078_012_800_000, "2004-02-29T00:00:00Z"), (1_000_000_000_000, "2001-09-09T01:46:40Z"),
      (1_795_235_760_000, "2026-11-21T04:36:00Z"), (2_147_483_648_000, "2038-01-19T03:14:08Z"),
      (4_107_542_399_000, "2100-02-28T23:59:59Z"), (4_107_542_400_000, "2100-03-01T00:00:00Z"),
      (253_402_300_799_000, "9999-12-31T23:59:59Z"), (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
    ] as [(Int64, String)]) func knownDates(milliseconds: Int64, text: String)
  { #expect(WireTime(milliseconds: milliseconds).description == text) }

  @Test("Agrees with Foundation's calendar on days of eight centuries, and at odd seconds") func againstFoundation() {
    let style = Date.ISO8601FormatStyle()
    var generator = SeededGenerator(seed: 7)
    for day in stride(from: Int64(-135_000), to: 160_000, by: Soak.triesAll ? 1 : 37) {
      let second = day * 86_400 + Int64.random(in: 0..<86_400, using: &generator)
      let expected = Date(timeIntervalSince1970: Double(second)).formatted(style)
      guard WireTime(milliseconds: second * 1000).description != expected else { continue }
      Issue.record("\(second) is not \(expected)")
      return
    }
  }

  @Test("Order and arithmetic") func arithmetic() {
    let time = WireTime(milliseconds: 1_500)
    #expect(time.adding(seconds: 30) == WireTime(milliseconds: 31_500))
    #expect(time.adding(seconds: -2) == WireTime(milliseconds: -500))
    #expect(time < time.adding(seconds: 1))
    #expect(!(time < time))
    #expect(WireTime(milliseconds: .max).adding(seconds: 1) == WireTime(milliseconds: .max))
    #expect(WireTime(milliseconds: .min).adding(seconds: -1) == WireTime(milliseconds: .min))
    #expect(time.adding(seconds: .max) == WireTime(milliseconds: .max))
    #expect(time.adding(seconds: .min) == WireTime(milliseconds: .min))
  }

  private func read(_ text: String) -> WireTime? {
    try? JSONDecoder().decode([WireTime].self, from: Data("[\"\(text)\"]".utf8)).first
  }

  @Test(
    "A time comes back from its text",
    arguments: [
      "1970-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-02-29T12:34:56Z",
      "9999-12-31T23:59:59Z",
    ]) func decoding(text: String)
  { #expect(read(text)?.description == text) }

  @Test(
    "What is no time is refused: no date of the calendar, out of range, or written otherwise",
    arguments: [
      "", "2026", "2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z", "2026-01-01T23:59:60Z", "2147483647-1-1T1:1:Z", "2147483647-1-1T1:1:1",
      "999999-1-1T1:1:1:1Z", "2147483647-01-01T0:0:0Z", "-100-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
      "2026-01-01 00:00:00Z", "2026:01:01T00-00-00Z", "2026-01-01T00:00:00z", "2026-01-01T00:00:000",
    ]) func impossible(text: String)
  { #expect(read(text) == nil) }
}
