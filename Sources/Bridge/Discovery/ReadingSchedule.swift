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
/// | has said that its network changes | 10 seconds after that is due, but no sooner than after 1 minute |
/// | was silent, or wrong, for the 1st, 2nd, 3rd time in a row | after 1, 5, 30 minutes; then each hour |
/// | is gone, takes no PSKc, has no valid address, or is on a network whose PSKc is not known | not at all |
/// | has a second record with its id | by the first one |
///
/// There is one conversation with a router at a time, and two in all. Who is asked about comes first; of the others, one
/// begins each second at most: anybody on the local network can publish records, each time with another id.
struct ReadingSchedule {
  enum Outcome { case answered, refused, failed }

  private static let mostConversations = 2
  private static let pace = Duration.seconds(1)
  private static let rest = Duration.seconds(60)
  private static let pauses: [Duration] = [.seconds(60), .seconds(300), .seconds(1_800)]
  private static let landing = Duration.seconds(10)
  private static let hour = Duration.seconds(3_600)

  private struct Router {
    var record: Advertisement
    var due: ContinuousClock.Instant
    var began: ContinuousClock.Instant?
    var failures = 0
    /// A person waits for it.
    var isRequested = false
    var isReading = false
    var isHere = true
  }

  private var routers: [BorderAgentID: Router] = [:]
  /// When the next one may begin that nobody has asked for.
  private var earliest: ContinuousClock.Instant?

  /// When `next` is to be called; nil while nothing can begin.
  var deadline: ContinuousClock.Instant? { hasRoom ? first.map { beginning(of: $0.value) } : nil }

  /// Takes all records that are there.
  ///
  /// - Parameter hasPSKc: whether the PSKc of a network is known.
  mutating func update(_ records: [Advertisement], at now: ContinuousClock.Instant, hasPSKc: (ExtendedPANID) -> Bool) {
    var here: Set<BorderAgentID> = []
    let readable = records.filter {
      $0.isReadable && $0.network.map(hasPSKc) == true && here.insert($0.agents[0]).inserted
    }
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
  mutating func request(_ agent: BorderAgentID, at now: ContinuousClock.Instant) -> Bool {
    guard routers[agent]?.isHere == true else { return false }
    routers[agent]?.due = now
    routers[agent]?.isRequested = true
    return true
  }

  /// Whether a router is read, or will be.
  func reads(_ agent: BorderAgentID) -> Bool { routers[agent].map { $0.isHere || $0.isReading } ?? false }

  /// The router to be read now, whose conversation begins with this call; nil while there is none.
  mutating func next(at now: ContinuousClock.Instant) -> Advertisement? {
    guard hasRoom, let (agent, router) = first, beginning(of: router) <= now else { return nil }
    if !router.isRequested { earliest = now + Self.pace }
    routers[agent]?.isReading = true
    routers[agent]?.isRequested = false
    routers[agent]?.began = now
    routers[agent]?.due = now + Self.hour
    return router.record
  }

  /// A conversation has ended. What has changed meanwhile, or was asked for, stays due.
  ///
  /// - Parameter delay: until its network changes; nil: nothing is pending there.
  mutating func end(
    _ agent: BorderAgentID, _ outcome: Outcome, at now: ContinuousClock.Instant, changesAfter delay: Duration? = nil
  ) {
    guard var router = routers[agent], let began = router.began, router.isReading else { return }
    router.isReading = false
    let isDueAnyway = router.due < began + Self.hour
    if outcome == .failed {
      router.due = isDueAnyway ? router.due : now + (router.failures < 3 ? Self.pauses[router.failures] : Self.hour)
      router.failures += 1
    } else {
      router.due = isDueAnyway ? router.due : now + Self.hour
      if let delay { router.due = min(router.due, max(now + delay + Self.landing, began + Self.rest)) }
      router.failures = 0
    }
    routers[agent] = router
  }

  private var hasRoom: Bool { routers.values.count(where: \.isReading) < Self.mostConversations }

  /// The one that is read next.
  private var first: (key: BorderAgentID, value: Router)? {
    routers.filter { $0.value.isHere && !$0.value.isReading }.min {
      $0.value.isRequested == $1.value.isRequested ? $0.value.due < $1.value.due : $0.value.isRequested
    }
  }

  private func beginning(of router: Router) -> ContinuousClock.Instant {
    router.isRequested ? router.due : max(router.due, earliest ?? router.due)
  }
}

extension Advertisement {
  /// Whether what it says of its network, or where it is, is something else.
  fileprivate func differs(from other: Advertisement) -> Bool {
    activeSeconds != other.activeSeconds || partition != other.partition || network != other.network
      || networkName != other.networkName || endpoint != other.endpoint
  }
}
