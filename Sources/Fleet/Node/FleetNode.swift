#if Fleet
import Bridge
import Broker
import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Settings
import StatusPage
import Synchronization
import Threadkeeper
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node of a fleet: claims shards, serves them, and gives them back.
///
/// ```
///   a thread ── renews, releases, claims ──▶ database      may take as long as the database does
///   a thread ── time passes, ten times a second            ends what could not be renewed
///   a thread ── asks shards how they are                   figures for the next renewal, anchors for the broker
///   threads  ── open shards, four at once ─▶ key service, database, `Bridge`
///   tasks    ── serve them
/// ```
/// All of them bring what they have to `Leases`, under one lock, and do what follows from it.
final class FleetNode: Sendable {
  /// Shards that are opened at once.
  static let opening = 4
  /// How many shards of this process may connect and subscribe at the same time.
  static let subscribing = DispatchSemaphore(value: 4)
  /// The longest wait after a broker was away: there is no other daemon that could take a session over for good.
  static let reconnectCeiling = Duration.seconds(10)
  /// The broker answers late while it sends retained messages to other shards.
  static let answerLimit = Duration.seconds(60)
  /// For what is published and released when the node ends.
  private static let endLimit = Duration.milliseconds(1_400)

  /// What all shards share at the broker.
  struct BrokerConnection {
    let fleet: String
    let anchors: Anchors
    let client: MosquittoClient
  }

  struct State {
    var leases: Leases
    var runs: [Leases.Claim: ShardRun] = [:]
    /// Kept when the node leaves: to free a million routers would delay its end by seconds.
    var endedRuns: [ShardRun] = []
    /// Of claims that have been opened, for when their shards are started again.
    var keys: [Leases.Claim: ShardKeys] = [:]
    /// Of claims that are opened or served.
    var terms: [Leases.Claim: LeaseTerm] = [:]
    /// Counted since the last renewal, which takes them along.
    var figures: [Leases.Claim: LeaseTable.Figures] = [:]
    var releases: [LeaseTable.Figures] = []
    var isReleasing = false
    var isDraining = false
    /// Once the fleet's name is known.
    var link: BrokerConnection?
    /// What keeps the whole node from its work.
    var problems = FleetPage.Problems()
    var notices: ServiceNotices
    var end: ContinuousClock.Instant?
    var failure: CommandFailure?
    var isOver = false
  }

  let settings: Settings
  let times: LeaseTimes
  /// Host name or address of the broker.
  let broker: String
  /// Of what its shards have on this machine.
  let directory: String
  let table: LeaseTable
  /// For homes and key slots.
  let database: FleetDatabase
  let pool: PostgresPool
  let logger: Logger
  let state: Mutex<State>
  /// Wakes the thread that asks the database.
  let signal = WakeSignal()
  /// Ends the wait of the thread that asks the shards.
  let watchSignal = WakeSignal()
  let openings = DispatchSemaphore(value: FleetNode.opening)
  private let manager: NotifySocket?
  private let lock: Int32

  /// - Throws: `CommandFailure`: another process of this machine is this node, or the settings name no fleet.
  static func start(_ settings: Settings, times: LeaseTimes = LeaseTimes(), logger: Logger) throws(CommandFailure)
    -> FleetNode
  {
    guard case .named(let broker) = settings.mqtt.host, let url = settings.store.url else {
      throw CommandFailure(
        .configuration, "a node needs the database and the broker of its fleet",
        remedy: "name them in `store.url` and `mqtt.host`")
    }
    return try FleetNode(settings, times, broker: broker, url: url, logger: logger)
  }

  private init(_ settings: Settings, _ times: LeaseTimes, broker: String, url: SecretText, logger: Logger)
    throws(CommandFailure)
  {
    (self.settings, self.times, self.broker, self.logger) = (settings, times, broker, logger)
    directory = "\(settings.store.path)/shards"
    lock = try Self.lock(settings.fleet.node, in: directory)
    // A connection of its own, so that no commit delays a renewal; one that is dead leaves time for another one.
    table = LeaseTable(
      database: try FleetDatabase(settings, within: .seconds(3)), node: settings.fleet.node, process: UUID().uuidString)
    database = try FleetDatabase(settings)
    pool = PostgresPool(url: url.revealed, size: settings.fleet.connections)
    let environment = ProcessInfo.processInfo.environment
    manager = NotifySocket(environment: environment)
    state = Mutex(
      State(
        leases: Leases(limit: times.limit),
        notices: ServiceNotices(watchdogLimit: WatchdogLimit.duration(environment: environment))))
  }

  /// What is served now, in order.
  var runs: [ShardRun] { state.withLock { $0.runs.values.sorted { $0.shard < $1.shard } } }

  /// Runs until it is stopped (`StopSignals`), or until it cannot go on.
  ///
  /// - Throws: `CommandFailure`: 78 where another process has this node's name, and where nothing can be done with the
  ///   database or the broker as they are set.
  func run() async throws {
    let facts = FleetPage(
      try FleetDatabase(settings, within: .seconds(2)),
      shards: { [self] in runs.map { .init(shard: $0.shard, bridge: $0.bridge) } },
      problems: { [self] in state.withLock { $0.problems } })
    let page = PageServer(settings, source: facts, logger: logger)
    // The last one is stopped first.
    let services: [any Service] = (page.map { [$0] } ?? []) + [NodeService(node: self)]
    var configuration = ServiceGroupConfiguration(
      services: services.map {
        .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup, serviceName: "\(type(of: $0))")
      }, logger: Logger(label: "threadkeeper.services") { _ in SwiftLogNoOpLogHandler() })
    StopSignals.stop(&configuration)
    let group = ServiceGroup(configuration: configuration)
    try await group.run()
  }

  /// The same without signals and page: runs until `leave`, or until it cannot go on.
  func serve() async throws {
    SystemThread.run { self.work() }
    SystemThread.run { self.watch() }
    try await withTaskCancellationHandler {
      try await SystemThread.result { [self] in while !tick() { usleep(100_000) } }
    } onCancel: {
      leave()
    }
    let (client, failure) = state.withLock { state in
      state.isOver = true
      return (state.link?.client, state.failure)
    }
    signal.raise()
    watchSignal.raise()
    client?.stop()
    close(lock)
    if let failure { throw failure }
  }

  /// Gives all shards back: `serve` returns within two seconds, whatever does not answer.
  func leave() { leave(nil) }

  /// - Parameter failure: what `serve` throws.
  func leave(_ failure: CommandFailure?) {
    let end = ContinuousClock.now + Self.endLimit
    let isFirst = state.withLock { state in
      guard state.end == nil else { return false }
      (state.end, state.failure) = (end, failure)
      _ = manager?.send(state.notices.stop())
      return true
    }
    if isFirst { apply { $0.leave(by: end) } }
    signal.raise()
  }

  /// - Returns: whether nothing is left to be done.
  private func tick() -> Bool {
    let now = ContinuousClock.now
    apply { $0.passed(now) }
    return state.withLock { state in
      let problem = state.problems.database ?? state.problems.broker
      _ = manager?.send(state.notices.turn(problem ?? "Serves \(state.runs.count) shards", at: now))
      guard let end = state.end else { return false }
      let isEmpty = state.leases.count == 0 && state.releases.isEmpty && !state.isReleasing
      return isEmpty || now > end + .milliseconds(200)
    }
  }

  // MARK: What follows

  func apply(_ change: (inout Leases) -> [Leases.Action]) {
    let actions = state.withLock { state in
      defer { for (claim, term) in state.terms { term.end = state.leases.end(of: claim) ?? .now } }
      return change(&state.leases)
    }
    for action in actions {
      switch action {
      case .start(let claim, _): SystemThread.run { self.open(claim) }
      case .stop(let claim): state.withLock { $0.runs[claim] }?.stop()
      case .release(let claim, let leaseState):
        state.withLock { $0.releases.append(.init(shard: claim.shard, epoch: claim.epoch, state: leaseState)) }
        signal.raise()
      }
    }
  }

  /// On a thread of its own: makes what serves a shard, and has it served.
  private func open(_ claim: Leases.Claim) {
    openings.wait()
    defer { openings.signal() }
    let began = ContinuousClock.now
    do {
      let (link, keys, term) = state.withLock { state in
        let term = state.terms[claim] ?? LeaseTerm(state.leases.end(of: claim) ?? .now)
        state.terms[claim] = term
        return (state.link, state.keys[claim], term)
      }
      guard let link else { return }
      let run = try ShardRun(claim, term, keys: keys, in: self, link)
      state.withLock {
        $0.runs[claim] = run
        $0.keys[claim] = run.keys
      }
      logger.notice(
        "serves a shard",
        metadata: [
          "shard": "\(claim.shard)", "epoch": "\(claim.epoch)", "homes": "\(run.bridge.homes.count)",
          "ms": "\(Int(began.duration(to: .now) / .milliseconds(1)))",
        ])
      apply { $0.started(claim) }
      Task(executorPreference: WaitingTasks.shared) {
        let error = await run.serve()
        self.ended(claim, error.map { .init(state: .failed, message: "\($0)") })
      }
    } catch { ended(claim, ShardRun.Failure(error)) }
    signal.raise()
  }

  private func ended(_ claim: Leases.Claim, _ failure: ShardRun.Failure?) {
    let (run, isHeld) = state.withLock { state in
      let run = state.runs.removeValue(forKey: claim)
      if state.end != nil, let run { state.endedRuns.append(run) }
      return (run, state.leases.end(of: claim) != nil)
    }
    if let run { publishAnchors(of: [run]) }
    apply { $0.ended(claim.shard, failure?.state, at: .now) }
    let isKept = state.withLock { state in
      let isKept = state.leases.end(of: claim) != nil
      if !isKept { (state.keys[claim], state.terms[claim]) = (nil, nil) }
      return isKept
    }
    var metadata: Logger.Metadata = ["shard": "\(claim.shard)"]
    if let failure, isHeld {
      metadata["reason"] = "\(failure.message)"
      logger.error("a shard cannot be served", metadata: metadata)
    } else if isKept {
      logger.notice("starts a shard again: its homes have changed", metadata: metadata)
    } else {
      logger.notice(isHeld ? "gives a shard back" : "has lost a shard", metadata: metadata)
    }
    signal.raise()
  }

  func publishAnchors(of runs: [ShardRun]) {
    guard let link = state.withLock({ $0.link }) else { return }
    var hasNew = false
    for run in runs where run.term.lasts { hasNew = run.anchor.map { link.anchors.note($0) } == true || hasNew }
    if hasNew { link.client.wake() }
  }
}

/// A node in a service group.
private struct NodeService: Service {
  let node: FleetNode

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await node.serve()
    } onGracefulShutdown: {
      node.leave()
    }
  }
}

extension FleetNode {
  /// Held for as long as this process is the node: who finds it free may take what the database says that the node has.
  private static func lock(_ name: String, in directory: String) throws(CommandFailure) -> Int32 {
    try PrivateDirectory.make(directory)
    let path = "\(directory)/\(name).lock"
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(.cannotCreate, "\(path) cannot be made: \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw CommandFailure(
        .temporary, "another process of this machine is the node \(name)",
        remedy: "end it, or give this one another `fleet.node`")
    }
    return descriptor
  }
}
#endif
