// SPDX-License-Identifier: Apache-2.0

/// How long to wait before avahi-daemon is asked for again: 1 second, then twice as long each time, up to 30.
struct RetryPause: Sendable {
  static let longest = Duration.seconds(30)

  private var following = Duration.seconds(1)

  mutating func next() -> Duration {
    defer { following = min(following * 2, Self.longest) }
    return following
  }

  mutating func reset() {
    self = RetryPause()
  }
}
