// SPDX-License-Identifier: Apache-2.0

/// How many messages are taken in at once. A pure value.
///
/// The broker gets no acknowledgement and no ping while a batch is applied, so a batch should take less than a second.
/// A connection begins with one message, so that what an earlier connection failed at is tried alone, and doubles.
struct BatchPace: Equatable {
  /// A batch that takes longer makes the next one smaller. Less than 1.25 seconds, a quarter of the least keep-alive that
  /// can be set (5 seconds).
  static let slow = Duration.seconds(1)
  /// One that takes less makes the next one larger.
  static let fast = Duration.milliseconds(250)
  static let most = Bridge.batchMessages

  private(set) var limit = 1

  mutating func connected() { limit = 1 }

  mutating func applied(_ messages: Int, in time: Duration) {
    if time > Self.slow {
      limit = max(1, limit / 2)
    } else if time < Self.fast, messages >= limit {
      limit = min(Self.most, limit * 2)
    }
  }
}
