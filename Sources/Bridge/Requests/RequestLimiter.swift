import Home
import HomeStore
import Synchronization
import ThreadRequests

/// How often a user of the broker, or of the machine, may ask, or a login may publish events: a bucket of tokens for
/// each, which refills with time.
///
/// Refusals have a bucket too: a user that floods the daemon is answered now and then, not each time, and cannot make
/// it flood the broker.
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
  /// Stored items that count as one request.
  private static let itemsOfToken = 100

  private let buckets: Mutex<TokenBuckets>

  package init() { buckets = Mutex(TokenBuckets(rate: Self.rate, burst: Self.burst)) }

  /// For a request.
  ///
  /// - Parameters:
  ///   - command: as it came.
  ///   - items: how many are stored; asked only for requests that look at them.
  package func judge(_ user: ExactName, _ command: String, items: () -> Int, at now: WireTime) -> Verdict {
    judge(user, price: Self.price(of: command), work: Self.work(of: command, items), at: now)
  }

  /// - Parameters:
  ///   - price: as `price(of:)` has it, or a part of that. Without as many tokens it is refused.
  ///   - work: what it costs beside that. The bucket may owe it: then the next request waits.
  package func judge(_ user: ExactName, price: Int = 1, work: Int = 0, at now: WireTime) -> Verdict {
    buckets.withLock { $0.judge(user, price: price, work: work, at: now) }
  }

  /// What a request needs to be let in. A list costs more than one, and so does `consent/pending`, which looks at all
  /// that waits.
  package static func price(of command: String) -> Int {
    switch RequestCommand(rawValue: command) {
    case .listCredentials, .listActiveCredentials, .nearbyNetworks, .listRouters, .listNetworks, .listAlerts,
      .pendingConsents:
      5
    default: 1
    }
  }

  /// What a request costs beside its price, because it may look at many items while the intake waits. Lists of states
  /// end after as many entries as an answer can hold.
  package static func work(of command: String, _ items: () -> Int) -> Int {
    switch RequestCommand(rawValue: command) {
    case .listCredentials, .listActiveCredentials, .getPreferred, .getNetwork, .nearbyNetworks, .storeCredentials,
      .setPreferred, .forgetNetwork:
      items() / itemsOfToken
    case .listRouters, .listNetworks, .listAlerts, .pendingConsents:
      min(items(), RequestRules.mostEntries + 1) / itemsOfToken
    case .ping, .deleteCredentials, .getCredentials, .shareCredentials, .isPreferredAvailable, .checkPreferred,
      .forgetPreferred, .approveConsent, .denyConsent, .askConsent, .testAlerts, .confirmAlerts, nil:
      0
    }
  }
}

/// The tokens that each user has left. A value: the loop puts it back with the events that were not committed.
struct TokenBuckets: Sendable {
  /// Users that are remembered; who has rested long enough is forgotten first.
  private static let users = 4_096

  /// In thousandths of a token, so that each millisecond counts.
  private struct Bucket {
    var level: Int64
    var refusals = Int64(RequestLimiter.rate) * 1_000
    var seen: WireTime

    mutating func refill(_ now: WireTime, rate: Int64, burst: Int64) {
      let passed = min(max(0, now.milliseconds - seen.milliseconds), 86_400_000)
      level = min(level + passed * rate, burst * 1_000)
      let rate = Int64(RequestLimiter.rate)
      refusals = min(refusals + passed * rate, rate * 1_000)
      seen = now
    }

    mutating func take(_ tokens: Int64) { level -= tokens }

    mutating func judge(price: Int64, work: Int64, at now: WireTime, rate: Int64, burst: Int64)
      -> RequestLimiter.Verdict
    {
      refill(now, rate: rate, burst: burst)
      if level >= price {
        level -= price + work
        return .allowed
      }
      guard refusals >= 1_000 else { return .ignored }
      refusals -= 1_000
      return .refused
    }
  }

  private struct Account {
    var bucket: Bucket
    /// As it was when the period began in which it was last used; nil: there was none.
    var before: Bucket?
    var period: Int

    mutating func judge(price: Int64, work: Int64, at now: WireTime, rate: Int64, burst: Int64, in current: Int)
      -> RequestLimiter.Verdict
    {
      if period != current { (before, period) = (bucket, current) }
      return bucket.judge(price: price, work: work, at: now, rate: rate, burst: burst)
    }
  }

  private var accounts: [ExactName: Account] = [:]
  /// Counts what was kept or put back.
  private var period = 0
  private let rate: Int64
  private let burst: Int64

  /// - Parameters:
  ///   - rate: tokens a second.
  ///   - burst: how many there are after a rest.
  init(rate: Int, burst: Int) { (self.rate, self.burst) = (Int64(rate), Int64(burst)) }

  /// - Parameters: as those of `RequestLimiter.judge`.
  mutating func judge(_ user: ExactName, price: Int = 1, work: Int = 0, at now: WireTime) -> RequestLimiter.Verdict {
    if accounts.count >= Self.users, accounts[user] == nil { forget(now) }
    let new = Account(bucket: Bucket(level: burst * 1_000, seen: now), before: nil, period: period)
    return accounts[user, default: new].judge(
      price: Int64(price) * 1_000, work: Int64(work) * 1_000, at: now, rate: rate, burst: burst, in: period)
  }

  /// Takes what an event has cost beside its own token, which is known when it was handled. The bucket may owe it.
  mutating func charge(_ user: ExactName, work: Int) { accounts[user]?.bucket.take(Int64(work) * 1_000) }

  /// What was taken is not put back any more.
  mutating func keep() { period += 1 }

  /// Puts back what was taken since `keep`.
  mutating func putBack() {
    accounts = accounts.compactMapValues { account in
      guard account.period == period else { return account }
      return account.before.map { Account(bucket: $0, before: $0, period: period) }
    }
    keep()
  }

  /// Those whose buckets are full again are as good as new. If none is, all restart: memory has its limit, and so many
  /// users at once are no home's.
  private mutating func forget(_ now: WireTime) {
    accounts = accounts.filter {
      var bucket = $0.value.bucket
      bucket.refill(now, rate: rate, burst: burst)
      return bucket.level < burst * 1_000
    }
    if accounts.count >= Self.users { accounts.removeAll() }
  }
}
