import Home

/// How long changes on the local network are gathered before they are written.
///
/// A home changes a few times a day, and then the list should follow at once. Records that change all the time must not
/// keep the disk busy.
struct DiscoveryPace {
  /// Milliseconds in which the records of one change come together.
  static let quick = 250
  /// Milliseconds that are waited at the most.
  static let longest = 30_000
  /// Quick rounds in a row.
  private static let quickRounds = 8
  /// Milliseconds without a change after which rounds are quick again.
  private static let rest = 60_000

  private var rounds = 0
  private var last: WireTime?

  /// Milliseconds from now to the next round.
  mutating func delay(at now: WireTime) -> Int {
    // A clock that was set back counts as rest, too.
    if let last, now >= last, now.milliseconds - last.milliseconds < Self.rest { rounds += 1 } else { rounds = 0 }
    last = now
    guard rounds >= Self.quickRounds else { return Self.quick }
    return min(Self.quick << min(rounds - Self.quickRounds + 1, 10), Self.longest)
  }
}
