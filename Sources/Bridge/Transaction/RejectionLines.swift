// SPDX-License-Identifier: Apache-2.0

import Broker

/// One line of the log for each reason in ten seconds, however many messages are rejected: a flood of messages must not
/// flood the log too. Every single one is on `bridge/event`.
struct RejectionLines {
  private static let interval = 10

  /// A message of many that were rejected for the same reason.
  struct Example: Sendable {
    /// Its beginning.
    let topic: String?
    /// Names the place and the remedy, never a payload.
    let reason: String
  }

  private struct Reason {
    var count: Int64 = 0
    var example: Example?
    var nextLine = WireTime(milliseconds: 0)
  }

  private var reasons: [String: Reason] = [:]

  /// - Parameters:
  ///   - rejected: how many more were rejected, by their codes.
  ///   - examples: one of each code.
  /// - Returns: the lines to be written now.
  mutating func take(
    _ rejected: [String: Int64], _ examples: [String: Example] = [:], at now: WireTime
  ) -> [(code: String, count: Int64, example: Example?)] {
    for (code, count) in rejected {
      reasons[code, default: Reason()].count += count
      if let example = examples[code] { reasons[code]?.example = example }
    }
    return reasons.keys.sorted().compactMap { code in
      guard let reason = reasons[code], reason.count > 0, reason.nextLine <= now else { return nil }
      reasons[code] = Reason(nextLine: now.adding(seconds: Self.interval))
      return (code, reason.count, reason.example)
    }
  }

  /// What waits for a time by another clock waits no more.
  mutating func clockJumped() {
    for code in reasons.keys { reasons[code]?.nextLine = WireTime(milliseconds: 0) }
  }
}
