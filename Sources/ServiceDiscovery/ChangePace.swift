// SPDX-License-Identifier: Apache-2.0

/// Bounds how often the changes of one service are reported: so many in each minute that begins with a change.
struct ChangePace: Sendable {
  static let minute = Duration.seconds(60)

  private var began: ContinuousClock.Instant?
  private var count = 0

  /// Whether a change may be reported now. If so, it is counted.
  mutating func admits(_ limit: Int, at now: ContinuousClock.Instant) -> Bool {
    if let began, now < began + Self.minute {
      guard count < limit else { return false }
    } else {
      began = now
      count = 0
    }
    count += 1
    return true
  }

  /// When a change that was not admitted will be.
  var nextMinute: ContinuousClock.Instant? { began.map { $0 + Self.minute } }
}
