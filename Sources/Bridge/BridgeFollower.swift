import Broker
import Home
import HomeStore
import Synchronization

/// What follows from a batch: states and events, answers, lines of the log, figures.
final class BridgeFollower: LoopFollower {
  /// Who acts upon it, once there is a loop.
  struct Parts {
    let publisher: Publisher
    /// Of the local network, and of which home that is; nil: none is looked at.
    var discovery: (intake: DiscoveryIntake, home: String)?
    /// Wakes the connection that publishes, and the ticks.
    let wake: @Sendable () -> Void
  }

  private struct State {
    var parts: Parts?
    /// Committed by the start of the loop.
    var early: [(batch: CommittedBatch, homes: CommittedHomes)] = []
    /// What became of answers, which their homes have still to handle.
    var owed: [RequestService.OwedInput] = []
  }

  private let events: [String: EventWriter]
  private let requests: RequestService
  private let monitor: BridgeMonitor
  private let news: NewsLog
  private let state = Mutex(State())
  private let rows = Atomic(0)

  init(_ homes: [ServedHome], requests: RequestService, monitor: BridgeMonitor, news: NewsLog) {
    events = Dictionary(
      homes.map { home in (home.name, EventWriter(home: home.name, base: home.base, ways: news.ways)) },
      uniquingKeysWith: { $1 })
    self.requests = requests
    self.monitor = monitor
    self.news = news
  }

  /// Since the start, without what saves signs of life.
  var rowsWritten: Int { rows.load(ordering: .relaxed) }

  func begin(_ parts: Parts) {
    let early = state.withLock { state in
      state.parts = parts
      defer { state.early = [] }
      return state.early
    }
    // What was published of them is in the first walk.
    for (batch, homes) in early { follow(batch, homes, parts) }
  }

  func willHandle() { requests.callers.look() }

  func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] {
    events[outcome.home]?.rows(of: outcome, at: now) ?? []
  }

  func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews { news.news(of: batch, home: home) }

  func committed(_ batch: CommittedBatch, _ homes: CommittedHomes) {
    let parts = state.withLock { state in
      if state.parts == nil { state.early.append((batch, homes)) }
      return state.parts
    }
    guard let parts else { return }
    parts.publisher.note(batch, home: homes.storedHome)
    follow(batch, homes, parts)
  }

  private func follow(_ batch: CommittedBatch, _ homes: CommittedHomes, _ parts: Parts) {
    monitor.count(batch)
    rows.add(batch.rows, ordering: .relaxed)
    if let time = batch.commitTime { monitor.figures.commit.add(time) }
    if batch.received > 0 { monitor.figures.batch.add(Double(batch.received)) }
    guard !batch.outcomes.isEmpty || !batch.changes.isEmpty else { return }
    // First: somebody may wait for the states.
    parts.wake()
    news.note(batch)
    if let (intake, home) = parts.discovery {
      // By place: a loop over the values would copy each.
      let outcomes = batch.outcomes
      for place in outcomes.indices where outcomes[place].home == home {
        guard let seen = outcomes[place].output.sightings, let user = outcomes[place].origin?.user else { continue }
        intake.receive(seen, of: user)
      }
    }
    let owed = requests.answer(batch, of: homes)
    if !owed.isEmpty { state.withLock { $0.owed += owed } }
  }

  func hasHandled() {
    requests.callers.wake()
    // Answers, also to a request that has changed nothing.
    if !requests.queue.isEmpty { state.withLock { $0.parts }?.wake() }
  }

  /// Lets the homes handle what became of their answers, by one commit. What fails is due again, and what comes of it
  /// is due with the next tick.
  func reportAnswers(_ loop: HomeLoop) throws {
    let owed = state.withLock { $0.owed }
    guard !owed.isEmpty else { return }
    try loop.perform(owed)
    state.withLock { $0.owed.removeFirst(owed.count) }
  }
}
