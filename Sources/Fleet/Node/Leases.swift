#if Fleet

/// The shards that this process has, and what follows from what the database answers and from time. No I/O, no clock.
///
/// A shard is here from its claim until nothing serves it any more. What is to become of it only grows:
///
/// | goal | input | goal | action |
/// |---|---|---|---|
/// | – | claimed | serve | start |
/// | serve | has started | serve | – |
/// | serve | renewed, its homes have changed | restart | stop |
/// | serve, restart | held back, drained, store lost, node leaves | release | stop |
/// | any other | not renewed, or its time is over | forget | stop |
/// | not serve, or – | has started | the same | stop |
/// | serve | has ended by itself, or could not start | – | release, and a pause before the next claim |
/// | restart | has ended | serve | start, once more |
/// | release | has ended | – | release |
/// | forget | has ended | – | – |
/// | any other | the node's time to leave is over | – | release |
///
/// Stop follows once, and when it has started only.
struct Leases {
  typealias Instant = ContinuousClock.Instant

  /// Of the database's clock.
  static let seconds = 10
  /// Before a shard is claimed again that could not be served.
  static let pause = Duration.seconds(30)

  /// A shard by what was claimed of it.
  struct Claim: Hashable {
    let shard: Int
    let epoch: Int64
  }

  /// What the database knows of a lease that it has renewed.
  struct Renewed {
    let claim: Claim
    let homesVersion: Int64
    let isHeldBack: Bool
  }

  enum Action: Equatable {
    /// With the homes of this version.
    case start(Claim, homes: Int64)
    case stop(Claim)
    case release(Claim, LeaseState)
  }

  private enum Goal: Int, Comparable {
    case serve, restart, release, forget
    static func < (left: Goal, right: Goal) -> Bool { left.rawValue < right.rawValue }
  }

  private struct Lease {
    let epoch: Int64
    var until: Instant
    var homesVersion: Int64
    var goal = Goal.serve
    var hasStarted = false
    var isStopping = false
  }

  /// See `LeaseTimes`.
  let limit: Duration
  private var leases: [Int: Lease] = [:]
  private var pauses: [Int: Instant] = [:]
  /// When all ends, whatever the leases say.
  private var end: Instant?

  init(limit: Duration = LeaseTimes().limit) { self.limit = limit }

  var count: Int { leases.count }
  /// Those that have not started yet.
  var starting: Int { leases.values.count { !$0.hasStarted } }

  /// What is to be renewed.
  var renewable: [Claim] {
    leases.filter { $0.value.goal < .forget }.map { Claim(shard: $0.key, epoch: $0.value.epoch) }.sorted {
      $0.shard < $1.shard
    }
  }

  /// Shards that are not to be claimed now.
  func unclaimable(at now: Instant) -> [Int] { Set(leases.keys).union(pauses.filter { now < $0.value }.keys).sorted() }

  /// Until when a process may write, and have the session; nil: it may not.
  func end(of claim: Claim) -> Instant? {
    guard let lease = leases[claim.shard], lease.epoch == claim.epoch, lease.goal < .forget else { return nil }
    return end.map { min($0, lease.until) } ?? lease.until
  }

  /// - Parameter sent: before the database was asked.
  mutating func claimed(_ claim: Claim, homesVersion: Int64, sent: Instant) -> [Action] {
    pauses[claim.shard] = nil
    leases[claim.shard] = Lease(epoch: claim.epoch, until: sent + limit, homesVersion: homesVersion)
    return [.start(claim, homes: homesVersion)] + (end == nil ? [] : aim(at: .release, claim.shard))
  }

  /// - Parameters:
  ///   - asked: what was to be renewed.
  ///   - isDraining: that this node is to have nothing.
  ///   - sent: before the database was asked.
  mutating func renewed(_ asked: [Claim], _ answer: [Renewed], isDraining: Bool, sent: Instant) -> [Action] {
    let renewed = Dictionary(answer.map { ($0.claim, $0) }, uniquingKeysWith: { $1 })
    return asked.flatMap { claim -> [Action] in
      guard var lease = leases[claim.shard], lease.epoch == claim.epoch else { return [] }
      guard let row = renewed[claim] else { return aim(at: .forget, claim.shard) }
      lease.until = max(lease.until, sent + limit)
      let hasOtherHomes = row.homesVersion != lease.homesVersion
      lease.homesVersion = row.homesVersion
      leases[claim.shard] = lease
      if row.isHeldBack || isDraining { return aim(at: .release, claim.shard) }
      return hasOtherHomes ? aim(at: .restart, claim.shard) : []
    }
  }

  mutating func passed(_ now: Instant) -> [Action] {
    pauses = pauses.filter { now < $0.value }
    if let end, now >= end {
      defer { leases = [:] }
      return renewable.map { .release($0, .free) }
    }
    return leases.filter { now >= $0.value.until }.keys.sorted().flatMap { aim(at: .forget, $0) }
  }

  /// The store knows no more what is written: the shard is read again.
  mutating func storeLost(_ shard: Int) -> [Action] { aim(at: .release, shard) }

  /// The node leaves. What has not ended by then is not waited for.
  mutating func leave(by end: Instant) -> [Action] {
    self.end = end
    return leases.keys.sorted().flatMap { aim(at: .release, $0) }
  }

  mutating func started(_ claim: Claim) -> [Action] {
    guard leases[claim.shard]?.epoch == claim.epoch else { return [.stop(claim)] }
    leases[claim.shard]?.hasStarted = true
    return aim(at: .serve, claim.shard)
  }

  /// Nothing serves the shard any more.
  ///
  /// - Parameter failure: why, where nobody has stopped it; nil: it may be tried again at once.
  mutating func ended(_ shard: Int, _ failure: LeaseState?, at now: Instant) -> [Action] {
    guard let lease = leases[shard] else { return [] }
    let claim = Claim(shard: shard, epoch: lease.epoch)
    if lease.goal == .restart {
      leases[shard] = Lease(epoch: lease.epoch, until: lease.until, homesVersion: lease.homesVersion)
      return [.start(claim, homes: lease.homesVersion)]
    }
    leases[shard] = nil
    guard lease.goal < .forget else { return [] }
    if let failure, lease.goal == .serve {
      // Nobody claims one that is rolled back.
      pauses[shard] = failure == .rolledBack ? nil : now + Self.pause
      return [.release(claim, failure)]
    }
    return [.release(claim, .free)]
  }

  private mutating func aim(at goal: Goal, _ shard: Int) -> [Action] {
    guard var lease = leases[shard] else { return [] }
    lease.goal = max(goal, lease.goal)
    let stops = lease.goal > .serve && lease.hasStarted && !lease.isStopping
    if stops { lease.isStopping = true }
    leases[shard] = lease
    return stops ? [.stop(Claim(shard: shard, epoch: lease.epoch))] : []
  }
}

/// How long a node relies on a lease, and how often it asks for what. Tests have times of their own.
struct LeaseTimes {
  /// Of this process's clock, from before the renewal was sent: less than the lease, for the drift of clocks.
  var limit = Duration.seconds(8)
  /// From one renewal of all leases to the next.
  var renewal = Duration.seconds(2)
  /// Between two looks for shards that nobody has.
  var claim = Duration.seconds(1)
  /// From one count of homes and routers to the next.
  var figures = Duration.seconds(10)

  init() {}
}

/// How a shard is, as `lease.state` has it.
enum LeaseState: String, Encodable {
  /// Nobody serves it, and anybody may.
  case free
  case serving
  /// The database has an older state than the broker's anchor. Nobody claims it before a person has accepted that.
  case rolledBack = "rolled_back"
  /// Its key cannot be had.
  case noKey = "no_key"
  /// The database has something else than the shard's manifest says, or a part that does not open.
  case altered
  /// The process that opened it has ended, so it may be what has ended it.
  case crashed
  /// It could not be read, or its bridge has ended.
  case failed
}

#endif
