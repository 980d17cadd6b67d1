/// Which connections are served at a time, and which one makes room for a new one. A pure value: it knows users and
/// numbers, and nothing of sockets or messages.
///
/// A connection is silent until its whole request has come, and again after it was answered where more may come. A new connection of a user:
///
/// | the user has | all places together | the new connection |
/// |---|---|---|
/// | fewer than its share | not full | gets a place |
/// | its share | | gets the place of the user's oldest silent one; is refused where none is silent |
/// | no place | full | gets the place of the oldest silent one, otherwise of the oldest one, of the user with the most |
/// | some places | full | gets the place of the oldest silent one of the user with the most; is refused where none is silent |
///
/// Nobody loses their last place to another user. So a user without a place always gets one, unless as many users as
/// there are places have one each.
package struct CallerPlaces: Sendable {
  package enum Admission: Equatable, Sendable {
    /// - evicted: the place that was taken away for it, which is none any more.
    case admitted(place: Int, evicted: Int? = nil)
    case refused
  }

  private struct Caller {
    var user: UInt32
    var isSilent = true
  }

  /// Places of all users together; at least 1.
  package let total: Int
  /// Places of one user; at least 1.
  package let perUser: Int
  /// Numbers rise: the lowest is the oldest.
  private var callers: [Int: Caller] = [:]
  private var last = 0

  package init(total: Int, perUser: Int) {
    self.total = total
    self.perUser = perUser
  }

  /// Gives a new connection a place, or none.
  package mutating func admit(_ user: UInt32) -> Admission {
    let counts = self.counts
    let own = counts[user, default: 0]
    if own >= perUser {
      guard let oldest = oldest(of: user, where: \.isSilent) else { return .refused }
      return replace(oldest, by: user)
    }
    guard callers.count >= total else { return .admitted(place: add(user)) }
    guard let victim = victim(counts, for: user) else { return .refused }
    return replace(victim, by: user)
  }

  /// The request has come, or is no longer read.
  ///
  /// - Returns: false when the place was taken away.
  package mutating func endSilence(at place: Int) -> Bool {
    guard callers[place] != nil else { return false }
    callers[place]?.isSilent = false
    return true
  }

  /// The request has been answered, and another one may come. Does nothing for a place that was taken away.
  package mutating func beginSilence(at place: Int) { callers[place]?.isSilent = true }

  /// The connection has ended. Does nothing for a place that was taken away.
  package mutating func free(_ place: Int) { callers[place] = nil }

  package func holds(_ place: Int) -> Bool { callers[place] != nil }

  private var counts: [UInt32: Int] { callers.values.reduce(into: [:]) { $0[$1.user, default: 0] += 1 } }

  /// Whose place a user's new connection takes when all are taken.
  private func victim(_ counts: [UInt32: Int], for user: UInt32) -> Int? {
    let own = counts[user, default: 0]
    // The most places first; among equals the own user, then the lower number, so that the choice is always the same.
    let users = counts.filter { $0.key == user || ($0.value > own && $0.value > 1) }.sorted {
      ($0.value, $0.key == user ? 1 : 0, $1.key) > ($1.value, $1.key == user ? 1 : 0, $0.key)
    }.map(\.key)
    for candidate in users { if let oldest = oldest(of: candidate, where: \.isSilent) { return oldest } }
    guard own == 0, let most = users.first else { return nil }
    return oldest(of: most) { _ in true }
  }

  private func oldest(of user: UInt32, where isMeant: (Caller) -> Bool) -> Int? {
    callers.filter { $0.value.user == user && isMeant($0.value) }.keys.min()
  }

  private mutating func replace(_ place: Int, by user: UInt32) -> Admission {
    callers[place] = nil
    return .admitted(place: add(user), evicted: place)
  }

  private mutating func add(_ user: UInt32) -> Int {
    last += 1
    callers[last] = Caller(user: user)
    return last
  }
}

extension CallerPlaces {
  /// How many connections a listener for many users serves at a time: a sixteenth of the process's open files, at
  /// least 16 and at most 64.
  ///
  /// - Parameter descriptors: the soft limit of open files (`RLIMIT_NOFILE`).
  package static func total(descriptors: UInt) -> Int { Int(min(max(descriptors / 16, 16), 64)) }
}
