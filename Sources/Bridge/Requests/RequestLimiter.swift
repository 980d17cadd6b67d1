// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Synchronization
import ThreadRequests

/// How often a user of the broker, or of the machine, may ask, or a login may publish events: a bucket of tokens for
/// each, which refills with time.
///
/// Refusals have a bucket too: who floods the keeper is told so now and then, not each time, and
/// cannot make it flood the broker.
package final class RequestLimiter: Sendable {
  package enum Verdict: Hashable, Sendable {
    case allowed
    case refused
    /// Refused, and not answered: it was told often enough.
    case ignored
  }

  /// Requests a second, and how many may come at once after a rest.
  package static let rate = 10
  package static let burst = 50
  /// What a list counts as.
  static let priceOfList = 5
  /// Users that are remembered; who has rested long enough is forgotten first.
  static let users = 4_096

  /// In thousandths of a token, so that each millisecond counts.
  private struct Bucket {
    var level: Int64
    var refusals: Int64
    var seen: WireTime

    mutating func refill(_ now: WireTime, rate: Int, burst: Int) {
      let passed = min(max(0, now.milliseconds - seen.milliseconds), 3_600_000)
      level = min(level + passed * Int64(rate), Int64(burst) * 1_000)
      refusals = min(
        refusals + passed * Int64(RequestLimiter.rate), Int64(RequestLimiter.rate) * 1_000)
      seen = now
    }
  }

  /// By octets: to Swift an accented letter equals its two parts, but to the broker they are two users.
  private let buckets = Mutex<[[UInt8]: Bucket]>([:])

  private let rate: Int
  private let burst: Int

  /// - Parameters:
  ///   - rate: tokens a second.
  ///   - burst: how many there are after a rest.
  package init(rate: Int = RequestLimiter.rate, burst: Int = RequestLimiter.burst) {
    self.rate = rate
    self.burst = burst
  }

  /// - Parameter command: as it came. A list may look at every item of the store, while the intake
  ///   waits, so it costs more than one. So does `consent/pending`, which looks at all that waits.
  func judge(_ user: String, _ command: String, now: WireTime) -> Verdict {
    judge(user, price: Self.price(of: command), now: now)
  }

  package static func price(of command: String) -> Int {
    listing.contains(command) ? priceOfList : 1
  }

  private static let listing: Set<String> = Set(
    [
      RequestCommand.listCredentials, .listActiveCredentials, .nearbyNetworks, .listRouters,
      .listNetworks, .listAlerts, .pendingConsents,
    ].map(\.rawValue))

  /// - Parameter price: as `price(of:)` has it, or a part of that.
  package func judge(_ user: String, price: Int, now: WireTime) -> Verdict {
    let price = Int64(price) * 1_000
    return buckets.withLock { buckets in
      let key = Array(user.utf8)
      if buckets[key] == nil, buckets.count >= Self.users { forget(&buckets, now) }
      var bucket =
        buckets[key]
        ?? Bucket(level: Int64(burst) * 1_000, refusals: Int64(Self.rate) * 1_000, seen: now)
      bucket.refill(now, rate: rate, burst: burst)
      defer { buckets[key] = bucket }
      if bucket.level >= price {
        bucket.level -= price
        return .allowed
      }
      guard bucket.refusals >= 1_000 else { return .ignored }
      bucket.refusals -= 1_000
      return .refused
    }
  }

  /// Those whose buckets are full again are as good as new. If none is, all begin anew: memory has
  /// its limit, and so many users at once are no home's.
  private func forget(_ buckets: inout [[UInt8]: Bucket], _ now: WireTime) {
    let rest = Int64(burst / rate) * 1_000
    buckets = buckets.filter { now.milliseconds - $0.value.seen.milliseconds < rest }
    if buckets.count >= Self.users { buckets.removeAll() }
  }
}
