/// How a router was in the last 30 days, by the hour: of each hour the worst.
///
/// What it was before is written when that changes, so a router that stays as it is takes no room. Each entry is what
/// it was and until which hour since 1970, which is not in it.
package struct RouterPast: Hashable, Sendable {
  /// The worst last.
  package enum Standing: UInt8, Comparable, Sendable {
    /// Not on the list, or the daemon did not run.
    case unknown
    /// Online, where it should be.
    case online
    /// Online, on another network than the preferred one, which nobody has accepted.
    case otherNetwork
    case away

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  package static let hours = 720
  /// Of at most 4 bytes each in a record.
  static let most = 500

  private var before: [UInt32] = []
  private var current = Standing.unknown

  private static func entry(_ standing: Standing, until hour: UInt32) -> UInt32 {
    hour << 2 | UInt32(standing.rawValue)
  }

  private static func standing(_ entry: UInt32) -> Standing { Standing(rawValue: UInt8(entry & 3)) ?? .unknown }

  mutating func become(_ next: Standing, at now: WireTime) {
    guard next != current else { return }
    let (was, hour) = (current, now.hour)
    current = next
    // It came to the list.
    if was == .unknown, before.isEmpty { return }
    let end = was > next ? hour + 1 : hour
    before.removeAll { $0 >> 2 + UInt32(Self.hours) <= hour }
    // The current hour becomes worse than what it was until now.
    if let last = before.last, last >> 2 == hour + 1, Self.standing(last) < next {
      before.removeLast()
      if before.last.map({ $0 >> 2 < hour }) ?? true { before.append(Self.entry(Self.standing(last), until: hour)) }
    }
    // It was something worse in the same hour.
    if let last = before.last, last >> 2 >= end { return }
    if let last = before.last, Self.standing(last) == was { before.removeLast() }
    before.append(Self.entry(was, until: end))
    if before.count > Self.most {
      before[1] = Self.entry(.unknown, until: before[1] >> 2)
      before.removeFirst()
    }
  }

  /// The clock was set back: nothing has happened later than now.
  mutating func followClock(_ now: WireTime) {
    guard let first = before.firstIndex(where: { $0 >> 2 > now.hour + 1 }) else { return }
    // What was until later was until now.
    let standing = Self.standing(before[first])
    let end = standing > current ? now.hour + 1 : now.hour
    before.removeSubrange(first...)
    if standing != current, before.last.map({ $0 >> 2 < end }) ?? true {
      before.append(Self.entry(standing, until: end))
    }
  }

  /// What it was in each of the last hours, the current one last.
  ///
  /// - Parameter first: when it came to the list.
  fileprivate func hourly(since first: WireTime, at now: WireTime) -> [Standing] {
    let end = now.hour + 1
    let start = end - min(end, UInt32(Self.hours))
    var all = [Standing](repeating: .unknown, count: Int(end - start))
    var from = min(max(start, first.hour), end - 1)
    for (standing, until) in before.map({ (Self.standing($0), $0 >> 2) }) + [(current, end)] where from < until {
      for hour in from..<min(until, end) { all[Int(hour - start)] = standing }
      from = min(until, end)
    }
    return [Standing](repeating: .unknown, count: Self.hours - all.count) + all
  }
}

/// Hours in which nobody watched: the daemon did not run, the machine slept, or the clock was set forward.
struct Unwatched: Hashable, Sendable {
  static let most = 100

  let from: UInt32
  /// The first hour after it.
  var until: UInt32
}

extension WireTime {
  /// Whole hours since 1970; 0 before, and the last one whose entry has room.
  package var hour: UInt32 { UInt32(min(max(0, milliseconds / 3_600_000), 1 << 29)) }
}

extension Home {
  /// What a router was in each of the last 720 hours, the current one last.
  package func past(of router: Router, at now: WireTime) -> [RouterPast.Standing] {
    var all = router.past.hourly(since: router.firstSeenAt, at: now)
    let start = Int(now.hour) + 1 - all.count
    for gap in unwatched {
      for hour in gap.from..<gap.until where all.indices.contains(Int(hour) - start) {
        all[Int(hour) - start] = .unknown
      }
    }
    return all
  }

  /// Notes in a router's past what it is from now on.
  func notePast(of router: inout Router) {
    let standing: RouterPast.Standing =
      if !router.isPresent { .unknown } else if !router.isOnline { .away } else {
        isOnOtherNetwork(router) ? .otherNetwork : .online
      }
    router.past.become(standing, at: now)
  }

  /// Not one that is on the preferred network with an older dataset, or a newer one that the home is about to take.
  private func isOnOtherNetwork(_ router: Router) -> Bool {
    guard let network = router.actualNetwork, network != preferred?.dataset.network else { return false }
    return verdict(of: router).isMismatch
  }

  /// Nobody has watched since then. What was for less than an hour is none of its business.
  mutating func noteUnwatched(since: WireTime) {
    // Of a longer one, what is shown.
    let first = now.hour - min(now.hour, UInt32(RouterPast.hours))
    let gap = Unwatched(from: max(since.hour + 1, first), until: now.hour)
    guard gap.from < gap.until else { return }
    unwatched.removeAll { $0.until <= first }
    unwatched.append(gap)
    if unwatched.count > Unwatched.most { unwatched.removeFirst() }
    noteRecord(.home)
    needs.sharedCheck = true
  }

  /// The clock was set back: nothing is later than now.
  mutating func endUnwatchedLater() {
    let kept = unwatched.filter { $0.until <= now.hour }
    if kept == unwatched { return }
    unwatched = kept
    noteRecord(.home)
  }
}

extension RouterPast.Standing: Recorded {}

extension RouterPast: RecordedByFields {
  static var blank: Self { Self() }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&before)
    try coder(&current)
  }
}

extension Unwatched: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(from: coder(value?.from), until: coder(value?.until)) }
}
