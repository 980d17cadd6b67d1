// SPDX-License-Identifier: Apache-2.0

import Broker

/// When a device of Home Assistant may be published again: not before some seconds have passed, however often a router
/// comes, goes or changes its name. Home Assistant sets up the whole device anew each time.
struct HomeAssistantPace {
  /// Topics that are remembered before those whose time is over are looked for.
  private static let fewest = 256

  /// Seconds between two publications on one topic; 0: any.
  let seconds: Int
  private let now: @Sendable () -> WireTime
  private var sent: [String: WireTime] = [:]
  /// Topics at which those whose time is over are forgotten: twice as many as were left the last time, or a burst
  /// would look at all of them for each.
  private var mostRemembered = fewest
  /// When something was sent last.
  private var latest: WireTime?
  /// When what was held back is looked at again.
  private var holdsUntil: WireTime?

  init(seconds: Int, now: @escaping @Sendable () -> WireTime) {
    self.seconds = seconds
    self.now = now
  }

  /// Without any pause.
  static let none = HomeAssistantPace(seconds: 0) { WireTime(milliseconds: 0) }

  mutating func note(_ topic: String) {
    guard seconds > 0 else { return }
    let now = now()
    if sent.count >= mostRemembered {
      sent = sent.filter { isHeld($0.value, now) }
      mostRemembered = max(Self.fewest, 2 * sent.count)
    } else if let latest, !isHeld(latest, now) {
      // Nothing is held any more, after a burst too.
      sent.removeAll()
      mostRemembered = Self.fewest
    }
    latest = now
    sent[topic] = now
  }

  /// What was sent counts no more: the broker may have forgotten it.
  mutating func forget() {
    self = HomeAssistantPace(seconds: seconds, now: now)
  }

  /// Whether a topic has to wait. If so, `isOver` says when it is to be tried again.
  mutating func holds(_ topic: String) -> Bool {
    guard let last = sent[topic] else { return false }
    let now = now()
    guard isHeld(last, now) else { return false }
    // At most one look in a second at all that is due.
    let next = max(last.adding(seconds: seconds), now.adding(seconds: 1))
    holdsUntil = min(holdsUntil ?? next, next)
    return true
  }

  /// Whether something was held back that may go now. True once.
  mutating func isOver() -> Bool {
    guard let end = holdsUntil else { return false }
    let now = now()
    // A clock that was set back must not hold anything for long.
    guard end <= now || end > now.adding(seconds: max(1, seconds)) else { return false }
    holdsUntil = nil
    return true
  }

  private func isHeld(_ last: WireTime, _ now: WireTime) -> Bool {
    last <= now && now < last.adding(seconds: seconds)
  }
}
