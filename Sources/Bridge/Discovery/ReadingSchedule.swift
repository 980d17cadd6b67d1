import Home
import ThreadDataset

/// Which border router is read when, as a value: records of the local network and the ends of conversations come in.
///
/// | a router that | is read |
/// |---|---|
/// | is seen for the first time, or again after it was gone | at once |
/// | has another `at`, `pt`, `xp`, `nn` or address | at once, but no sooner than 1 minute after the last reading began |
/// | a person asks about | at once |
/// | has answered, or refused | after 1 hour |
/// | was silent, or wrong, for the 1st, 2nd, 3rd time in a row | after 1, 5, 30 minutes; then each hour |
/// | is gone, takes no PSKc, or is on a network whose PSKc is not known | not at all |
///
/// There is one conversation with a router at a time, and two in all.
struct ReadingSchedule {
  enum Ending { case answered, refused, failed }

  private static let mostConversations = 2
  private static let rest = Duration.seconds(60)
  private static let pauses: [Duration] = [.seconds(60), .seconds(300), .seconds(1_800)]
  private static let hour = Duration.seconds(3_600)

  private struct Router {
    var record: Advertisement
    var due: ContinuousClock.Instant
    var began: ContinuousClock.Instant?
    var failures = 0
    var isReading = false
    var isHere = true
  }

  private var routers: [BorderAgentID: Router] = [:]

  /// When `next` is to be called; nil while nothing can begin.
  var deadline: ContinuousClock.Instant? { hasRoom ? waiting.map(\.value.due).min() : nil }

  /// Takes all records that are there.
  ///
  /// - Parameter hasPSKc: whether the PSKc of a network is known.
  mutating func see(_ records: [Advertisement], at now: ContinuousClock.Instant, hasPSKc: (ExtendedPANID) -> Bool) {
    let readable = records.filter { $0.takesPSKc && $0.endpoint != nil && $0.network.map(hasPSKc) == true }
    let here = Set(readable.map { $0.agents[0] })
    for agent in routers.keys where !here.contains(agent) { routers[agent]?.isHere = false }
    // One that comes and goes all the time is not read each time.
    routers = routers.filter { _, router in
      router.isHere || router.isReading || router.began.map { now < $0 + Self.rest } == true
    }
    for record in readable {
      guard var router = routers[record.agents[0]] else {
        routers[record.agents[0]] = Router(record: record, due: now)
        continue
      }
      if !router.isHere || router.record.differs(from: record) {
        router.due = min(router.due, max(now, router.began.map { $0 + Self.rest } ?? now))
        router.failures = 0
      }
      (router.record, router.isHere) = (record, true)
      routers[record.agents[0]] = router
    }
  }

  /// A person wants to know.
  ///
  /// - Returns: false for a router that is not read.
  mutating func ask(_ agent: BorderAgentID, at now: ContinuousClock.Instant) -> Bool {
    guard routers[agent]?.isHere == true else { return false }
    routers[agent]?.due = now
    return true
  }

  /// The router to be read now, whose conversation begins with this call; nil while there is none.
  mutating func next(at now: ContinuousClock.Instant) -> Advertisement? {
    guard hasRoom, let (agent, router) = waiting.min(by: { $0.value.due < $1.value.due }), router.due <= now else {
      return nil
    }
    routers[agent]?.isReading = true
    routers[agent]?.began = now
    routers[agent]?.due = now + Self.hour
    return router.record
  }

  /// A conversation has ended. What has changed meanwhile, or was asked for, stays due.
  mutating func ended(_ agent: BorderAgentID, _ ending: Ending, at now: ContinuousClock.Instant) {
    guard var router = routers[agent], let began = router.began, router.isReading else { return }
    router.isReading = false
    let isDueAnyway = router.due < began + Self.hour
    if ending == .failed {
      router.due = isDueAnyway ? router.due : now + (router.failures < 3 ? Self.pauses[router.failures] : Self.hour)
      router.failures += 1
    } else {
      router.due = isDueAnyway ? router.due : now + Self.hour
      router.failures = 0
    }
    routers[agent] = router
  }

  private var hasRoom: Bool { routers.values.count(where: \.isReading) < Self.mostConversations }

  private var waiting: [BorderAgentID: Router] { routers.filter { $0.value.isHere && !$0.value.isReading } }
}

extension Advertisement {
  /// Whether what it says of its network, or where it is, is something else.
  fileprivate func differs(from other: Advertisement) -> Bool {
    activeSeconds != other.activeSeconds || partition != other.partition || network != other.network
      || networkName != other.networkName || endpoint != other.endpoint
  }
}
