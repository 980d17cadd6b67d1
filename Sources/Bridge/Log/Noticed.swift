import Home

/// What was noticed of a few matters, each said once and counted. A pure value.
///
/// | a matter that | is said | and then again |
/// |---|---|---|
/// | comes in floods: `take` | at once, so many lines | after ten seconds, with the count of all that there was meanwhile |
/// | stays as it is: `begins` | at once | when it was over: `end` |
struct Noticed<Matter: Hashable & Sendable>: Sendable {
  private static var milliseconds: Int64 { 10_000 }

  private struct Period {
    var end: Int64 = .min
    var left = 0
    /// What has happened since the last line.
    var count = 0
  }

  private var periods: [Matter: Period] = [:]

  /// - Parameters:
  ///   - wanted: lines that there are.
  ///   - more: what has happened.
  ///   - most: lines in ten seconds.
  /// - Returns: how many lines may be written now, and what has happened since the last ones; 0 without any.
  mutating func take(_ wanted: Int, of matter: Matter, counting more: Int, atMost most: Int = 1, at now: WireTime) -> (
    lines: Int, count: Int
  ) {
    var period = periods[matter] ?? Period()
    defer { periods[matter] = period }
    // A clock that was set back must not silence the log.
    if now.milliseconds >= period.end || period.end - now.milliseconds > Self.milliseconds {
      period.end = now.milliseconds + Self.milliseconds
      period.left = most
    }
    period.count += more
    let lines = min(period.left, wanted, period.count)
    guard lines > 0 else { return (0, 0) }
    period.left -= lines
    defer { period.count = 0 }
    return (lines, period.count)
  }

  /// - Returns: whether it was not known.
  mutating func begins(_ matter: Matter) -> Bool {
    periods[matter, default: Period()].count += 1
    return periods[matter]?.count == 1
  }

  /// - Returns: how often it was noticed; 0 where it was not known.
  @discardableResult mutating func end(where isOver: (Matter) -> Bool) -> Int {
    let over = periods.filter { isOver($0.key) }
    for matter in over.keys { periods[matter] = nil }
    return over.values.reduce(0) { $0 + $1.count }
  }
}
