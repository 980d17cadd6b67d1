// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ThreadkeeperCLI

struct LogTimestampTests {
  private func text(_ seconds: Int, _ milliseconds: Int = 0) -> String {
    var line: [UInt8] = []
    LogTimestamp(seconds: seconds, milliseconds: milliseconds).append(to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  @Test(
    "Known moments",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
      (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.000Z"),
    ])
  func known(seconds: Int, expected: String) {
    #expect(text(seconds) == expected)
  }

  @Test("Agrees with Foundation on every day for 150 years")
  func agreesWithFoundation() {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for day in 0..<(150 * 366) {
      let seconds = day * 86_400 + (day * 7_919) % 86_400
      #expect(
        text(seconds, 500) == Date(timeIntervalSince1970: Double(seconds) + 0.5).formatted(style))
    }
  }
}
