// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization
import ThreadRequests

/// How often a user of the broker, or of the machine, may ask, or a login may publish events: a bucket of tokens for
/// each, which refills with time.
///
/// Refusals have a bucket too: a user that floods the daemon is answered now and then, not each time, and
/// cannot make it flood the broker.
package final class RequestLimiter: Sendable {
  package enum Verdict: Hashable, Sendable {
    case allowed
    case refused
    /// Refused, and not answered: it was answered often enough.
    case ignored
  }

  /// Requests a second, and how many may come at once after a rest.
  package static let rate = 10
  package static let burst = 50
  /// What a list counts as, beside what it looks at.
  static let priceOfList = 5
  /// Stored items that count as one request.
  static let itemsOfToken = 100
  /// Users that are remembered; who has rested long enough is forgotten first.
  static let users = 4_096

  /// In thousandths of a token, so that each millisecond counts.
  private struct Bucket {
    var level: Int64
    var refusals: Int64
    var seen: WireTime

    mutating func refill(_ now: WireTime, rate: Int, burst: Int) {
      let passed = min(max(0, now.milliseconds - seen.milliseconds), 86_400_000)
      level = min(level + passed * Int64(rate), Int64(burst) * 1_000)
      refusals = min(
        refusals + passed * Int64(RequestLimiter.rate), Int64(RequestLimiter.rate) * 1_000)
      seen = now
    }
  }

  /// By bytes: to Swift an accented letter equals its two parts, but to the broker they are two users.
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

  /// - Parameter command: as it came.
  func judge(
    _ user: String, _ command: String, items: () -> Int = { 0 }, now: WireTime
  ) -> Verdict {
    let price = Self.price(of: command)
    return judge(user, price: price, work: Self.work(of: command, items: items), now: now)
  }

  /// What a request needs to be let in. A list costs more than one, and so does `consent/pending`, which looks at
  /// all that waits.
  package static func price(of command: String) -> Int {
    scans[command]?.price ?? 1
  }

  /// What a request costs beside its price, because it may look at many items while the intake waits.
  ///
  /// - Parameter items: how many are stored; asked only for requests that look at them.
  package static func work(of command: String, items: () -> Int) -> Int {
    guard let scan = scans[command] else { return 0 }
    return min(items(), scan.most) / itemsOfToken
  }

  private struct Scan {
    let price: Int
    /// The most items that are looked at.
    let most: Int
  }

  /// Lists by an index end after as many entries as an answer can hold. The others look at all items, or at all of a
  /// network, which may be all.
  private static let scans: [String: Scan] = {
    let most = Requests.mostEntries + 1
    let list = Scan(price: priceOfList, most: most)
    let all: [RequestCommand: Scan] = [
      .listCredentials: Scan(price: priceOfList, most: .max),
      .listActiveCredentials: Scan(price: priceOfList, most: .max),
      .getPreferred: Scan(price: 1, most: .max), .getNetwork: Scan(price: 1, most: .max),
      .nearbyNetworks: Scan(price: priceOfList, most: .max),
      .listRouters: list, .listNetworks: list, .listAlerts: list, .pendingConsents: list,
    ]
    return Dictionary(uniqueKeysWithValues: all.map { ($0.key.rawValue, $0.value) })
  }()

  /// - Parameters:
  ///   - price: as `price(of:)` has it, or a part of that. Without as many tokens it is refused.
  ///   - work: what it costs beside that. The bucket may owe it: then the next request waits.
  package func judge(_ user: String, price: Int, work: Int = 0, now: WireTime) -> Verdict {
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
        bucket.level -= price + Int64(work) * 1_000
        return .allowed
      }
      guard bucket.refusals >= 1_000 else { return .ignored }
      bucket.refusals -= 1_000
      return .refused
    }
  }

  /// Those whose buckets are full again are as good as new. If none is, all restart: memory has
  /// its limit, and so many users at once are no home's.
  private func forget(_ buckets: inout [[UInt8]: Bucket], _ now: WireTime) {
    buckets = buckets.filter {
      var bucket = $0.value
      bucket.refill(now, rate: rate, burst: burst)
      return bucket.level < Int64(burst) * 1_000
    }
    if buckets.count >= Self.users { buckets.removeAll() }
  }
}
