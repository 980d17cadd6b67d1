import Broker
import Home
import HomeStore
import KeychainCore
import Logging
import Synchronization
import ThreadkeeperSupport

/// What is due by the clock, once a second; at rest less often (`TickPace`).
final class Ticker: Sendable {
  /// What a tick is for.
  struct Parts: Sendable {
    let loop: HomeLoop
    let publisher: Publisher
    let health: HealthReports
    let follower: BridgeFollower
    let status: StatusConnection
    let monitor: BridgeMonitor
    let news: NewsLog
    let store: any DaemonStore
    /// The first home of the settings has the alerts about the daemon.
    let firstHome: String?
    let loginRemedy: String
    let clock: any Clock
    let activity: Activity
    /// Of a service manager, which has to see a turn in that time.
    let watchdog: Duration?
    /// Wakes the connection that publishes.
    let wake: @Sendable () -> Void
    /// Called when a tick is over, on the thread of the ticks.
    let onTurn: @Sendable (BridgeMonitor.Snapshot) -> Void
    let logger: Logger
  }

  private struct State {
    var clock: ClockJumps
    var rest = RestWatch()
    /// Conditions of the daemon as its first home has them; those that were not set since the start are missing.
    var conditions: [AlertName: AlertFacts?] = [:]
    /// What was reported to its home last.
    var altered: [BridgeMonitor.AlteredTopic.Key: BridgeMonitor.AlteredTopic] = [:]
    /// Homes on whose base topics other daemons are, with what was reported to them; nil: it is not known yet.
    var others: [String: AlertFacts]?
    var dropped: Int64?
    var droppedGrew: WireTime?
    var areBasesEmpty: Bool
    /// Of the store's, those that are reported.
    var notices = 0
  }

  private let parts: Parts
  private let state: Mutex<State>
  private let thread = Mutex<SystemThread?>(nil)
  private let isStopped = Atomic(false)

  init(_ parts: Parts) {
    self.parts = parts
    state = Mutex(
      State(
        clock: ClockJumps(since: parts.clock.moment()),
        areBasesEmpty: parts.loop.retiredBases.isEmpty && parts.loop.retiredPrefixes.isEmpty))
  }

  private var monitor: BridgeMonitor { parts.monitor }
  private var loop: HomeLoop { parts.loop }

  /// - Throws: the system has no thread to give.
  func start() throws(SystemThreadError) {
    let thread = try SystemThread { [self] in run() }
    self.thread.withLock { $0 = thread }
  }

  private func run() {
    var pace = TickPace(watchdog: parts.watchdog)
    var (last, wait) = (ContinuousClock.now, TickPace.least)
    while pause(after: last, for: wait) {
      last = .now
      tick()
      let hasNews = parts.activity.take() || monitor.snapshot.storeProblem != nil
      let due = loop.nextDue.map { $0.milliseconds - parts.clock.now().milliseconds }
      wait = pace.next(hasNews: hasNews, due: due)
    }
  }

  /// - Returns: false where the ticks end.
  private func pause(after last: ContinuousClock.Instant, for wait: Duration) -> Bool {
    let activity = parts.activity
    var end = last + wait
    activity.wakes(wait > TickPace.least)
    defer { activity.wakes(false) }
    while !isStopped.load(ordering: .acquiring) {
      if activity.isThere {
        activity.wakes(false)
        end = min(end, last + TickPace.least)
      }
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { return true }
      activity.wait(within: left)
    }
    return false
  }

  /// Returns when the last tick is over, and everything is on disk.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    parts.activity.signal.raise()
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    thread?.join()
    do {
      loop.acknowledged(upTo: parts.publisher.published)
      try loop.stop()
    } catch { storeFailed(error) }
  }

  func tick() {
    let now = state.withLock { noticeJump(&$0) }
    do {
      try state.withLock { state in
        try write(&state, at: now)
        if state.rest.tick(steps: parts.follower.rowsWritten + parts.publisher.handedOut) {
          parts.logger.debug("the daemon is at rest: memory is given back")
          try parts.store.rest()
        }
      }
      if monitor.storeWorks(at: now, inBatch: false) { parts.logger.notice("the store can be written again") }
    } catch { storeFailed(error) }
    parts.news.logRejections(at: now)
    publish(at: now)
    parts.onTurn(monitor.snapshot)
  }

  private func storeFailed(_ error: any Error) {
    parts.store.noteFailure(error)
    let reason = monitor.storeFailed(error, path: parts.store.place, at: parts.clock.now(), inBatch: false)
    if let reason { parts.logger.error("the store cannot be written", metadata: ["reason": "\(reason)"]) }
  }

  /// What has to be on disk. Where that fails, all of it is due again at the next tick.
  private func write(_ state: inout State, at now: WireTime) throws {
    try parts.store.check()
    try state.clock.handOver { try loop.clockJumped(by: $0) }
    try watchDroppedMessages(&state, at: now)
    try watchLogin(&state)
    monitor.settleMutualEnds()
    let sessions = monitor.snapshot
    try set(
      .sessionTakenOver,
      sessions.mutualEnds.isOpen ? .sharedClientID : sessions.takeover.map(AlertFacts.sessionTakenOver), &state)
    try watchZigbee(&state)
    try watchTopics(&state, at: now)
    try watchOthers(&state)
    try watchAnchor(&state)
    try parts.follower.reportAnswers(loop)
    let known = monitor.snapshot
    loop.acknowledged(upTo: parts.publisher.published)
    try loop.tick(
      Link(
        connection: known.statusLink.isConnected ? known.statusConnections : nil, listeningSince: known.listeningSince))
    if !state.areBasesEmpty, parts.publisher.hasEmptiedBases {
      try loop.basesAreEmpty()
      state.areBasesEmpty = true
    }
    // A store that failed is tried with a real write: only that shows whether it works again.
    if known.storeProblem != nil { try loop.probe() }
    try parts.store.upkeep()
  }

  /// Where the clock has jumped, the deadlines of this process are reset. The homes get it with the next write that
  /// succeeds.
  ///
  /// - Returns: now.
  private func noticeJump(_ state: inout State) -> WireTime {
    let moment = parts.clock.moment()
    guard let jump = state.clock.notice(moment) else { return moment.wall }
    parts.logger.notice("the clock has jumped", metadata: ["seconds": "\(jump / 1_000)"])
    monitor.clockJumped(to: moment.wall)
    parts.publisher.clockJumped()
    parts.health.restart()
    return moment.wall
  }

  // MARK: Conditions of the daemon

  private func set(_ name: AlertName, _ facts: AlertFacts?, _ state: inout State) throws {
    guard let home = parts.firstHome, state.conditions[name] != .some(facts) else { return }
    try loop.perform(.condition(name, facts), in: home)
    state.conditions[name] = .some(facts)
  }

  /// Firing while the broker's count of dropped messages grows, and for ten minutes after. The last count is stored, so
  /// that what was dropped while the daemon was away is noticed too.
  private func watchDroppedMessages(_ state: inout State, at now: WireTime) throws {
    if let count = parts.status.dropped, count != state.dropped {
      if try loop.noteDropped(count) { state.droppedGrew = now }
      state.dropped = count
    }
    // Not of a time to come: the clock was set back.
    let isRecent = state.droppedGrew.map { $0 <= now && now < $0.adding(seconds: 600) } ?? false
    try set(.messagesDropped, isRecent ? .messagesDropped : nil, &state)
  }

  /// Firing from the broker's first no to its next yes. Of a broker that is away nothing is known: then the alert stays
  /// as it is, also over a restart.
  private func watchLogin(_ state: inout State) throws {
    switch monitor.snapshot.login {
    case .unknown: break
    case .accepted: try set(.brokerAuthenticationFailed, nil, &state)
    case .refused(let words):
      try set(.brokerAuthenticationFailed, .brokerAuthenticationFailed(words, remedy: parts.loginRemedy), &state)
    }
  }

  /// As the broker shows it: while the daemon is not connected, the alert stays as it is.
  private func watchZigbee(_ state: inout State) throws {
    guard let home = parts.firstHome, let zigbee = parts.status.zigbeeChannels else { return }
    let overlap = zigbee.overlap(with: loop.homes.snapshot.homes[home]?.preferred?.dataset)
    try set(.zigbeeSharesChannel, overlap.map(AlertFacts.zigbeeSharesChannel), &state)
  }

  /// Notices. They end by themselves.
  private func watchTopics(_ state: inout State, at now: WireTime) throws {
    for (key, altered) in monitor.altered(at: now) where altered != state.altered[key] {
      let facts: AlertFacts =
        key.alert == .stateAltered ? .stateAltered(topic: altered.topic) : .discoveryAltered(topic: altered.topic)
      try loop.perform(.condition(key.alert, facts), in: key.home)
      state.altered[key] = altered
    }
  }

  /// Firing while there is another daemon, also over a restart.
  private func watchOthers(_ state: inout State) throws {
    guard let others = parts.publisher.otherDaemons else { return }
    let key = AlertKey(.anotherDaemon)
    var known =
      state.others
      ?? loop.homes.snapshot.homes.compactMapValues { $0.alerts[key].flatMap { $0.phase == .firing ? $0.facts : nil } }
    let facts = Dictionary(others.map { ($0.home, AlertFacts.anotherDaemon($0)) }, uniquingKeysWith: { $1 })
    monitor.update { $0.anotherDaemon = others.first.map(AlertFacts.summary) }
    for home in Set(known.keys).union(facts.keys) where known[home] != facts[home] {
      try loop.perform(.condition(.anotherDaemon, facts[home]), in: home)
      known[home] = facts[home]
    }
    state.others = known
  }

  /// A notice. It ends by itself.
  private func watchAnchor(_ state: inout State) throws {
    for notice in parts.store.notices.dropFirst(state.notices) {
      if notice.mayHideRollback, let home = parts.firstHome {
        try loop.perform(.condition(.anchorAltered, .anchorAltered(notice)), in: home)
      }
      parts.logger.warning("\(notice)")
      state.notices += 1
    }
  }

  // MARK: Publishing

  private func publish(at now: WireTime) {
    parts.publisher.setStoreProblem(monitor.snapshot.storeProblem?.reason)
    loop.homes.show(parts.publisher.storeAlert)
    parts.health.publish(at: now)
    let hasMore = parts.publisher.tick()
    parts.status.logNotices()
    if hasMore { parts.wake() }
  }
}
