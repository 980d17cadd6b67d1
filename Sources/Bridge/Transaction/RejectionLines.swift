// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// One line of the log for each reason in ten seconds, however many messages are rejected: a flood of messages must not
/// flood the log too. Every single one is on `bridge/event`.
struct RejectionLines {
  private static let interval = 10

  private struct Reason {
    var count: Int64 = 0
    var nextLine = WireTime(milliseconds: 0)
  }

  private var reasons: [String: Reason] = [:]

  /// - Parameter rejected: how many more were rejected, by their codes.
  /// - Returns: the lines to be written now.
  mutating func take(_ rejected: [String: Int64], at now: WireTime) -> [(
    code: String, count: Int64
  )] {
    for (code, count) in rejected { reasons[code, default: Reason()].count += count }
    return reasons.keys.sorted().compactMap { code in
      guard let reason = reasons[code], reason.count > 0, reason.nextLine <= now else { return nil }
      reasons[code] = Reason(nextLine: now.adding(seconds: Self.interval))
      return (code, reason.count)
    }
  }

  /// What waits for a time by another clock waits no more.
  mutating func clockJumped() {
    for code in reasons.keys { reasons[code]?.nextLine = WireTime(milliseconds: 0) }
  }
}
