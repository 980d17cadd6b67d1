#if Fleet
import Bridge
import Broker
import Dispatch
import Home
import KeychainCore
import Logging
import Settings
import Synchronization
import Threadkeeper

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A shard that this process serves: its bridge, and its local API.
final class ShardRun: Sendable {
  /// Why a shard cannot be served.
  struct Failure: Error {
    /// Nil: it can be tried again at once.
    let state: LeaseState?
    let message: String

    init(state: LeaseState?, message: String) { (self.state, self.message) = (state, message) }

    init(_ error: any Error) {
      if let failure = error as? Failure {
        self = failure
      } else {
        let (failure, kind) = (CommandFailure(ofFleet: error), (error as? PostgresError)?.kind)
        let isOver = failure.status == .unavailable || kind == .claimed || kind == .moved
        let status = (error as? KeychainError)?.status
        let isAltered = status == .decode || status == .readOnly
        self.init(state: isOver ? nil : isAltered ? .altered : .failed, message: failure.message)
      }
    }
  }

  let shard: Int
  let bridge: Bridge
  let claim: Leases.Claim
  let term: LeaseTerm
  let keys: ShardKeys
  let store: ShardStore
  private let localAPI: LocalAPISocket
  private let lastCommits = Mutex((number: UInt64(0), sum: 0.0))

  /// Reads the shard, and makes all that serves it. Blocks, for as long as key service and database take.
  ///
  /// - Parameters:
  ///   - keys: those that this claim has been opened with already.
  ///   - term: for as long as the shard may be written to, and the session is its own.
  /// - Throws: `Failure`; what the database throws.
  init(
    _ claim: Leases.Claim, _ term: LeaseTerm, keys: ShardKeys?, in node: FleetNode, _ link: FleetNode.BrokerConnection
  ) throws {
    let shard = claim.shard
    var logger = node.logger
    logger[metadataKey: "shard"] = "\(shard)"
    let keys = try keys ?? Self.open(shard, node)
    let store = ShardStore(shard: shard, epoch: claim.epoch, pool: node.pool, keys: keys, term: term)
    try Self.check(
      store, link.anchors.anchor(of: shard), topic: Anchor.topic(of: shard, below: node.settings.mqtt.baseTopic))

    let homes = try node.database.homes(of: shard)
    let base = "\(node.settings.mqtt.baseTopic)/\(shard)"
    var settings = node.settings
    settings.homes = homes.map { .init(name: $0.name, base: "\(base)/\($0.name)") }
    settings.store.path = "\(node.directory)/\(shard)"
    settings.discovery = .off
    settings.homeAssistant.discovery = .off
    settings.http.isEnabled = false
    var configuration = BridgeConfiguration(settings, version: threadkeeperVersion, below: base)
    configuration.ofHome = Dictionary(
      homes.map { ($0.name, $0.settings.over(settings.eachHome)) }, uniquingKeysWith: { $1 })
    configuration.loginRemedy = "Correct `mqtt.username` and `mqtt.password` in the settings and start the node again."
    var connection = MosquittoConfiguration(settings.mqtt, host: node.broker)
    connection.mayConnect = { term.lasts }
    connection.places = FleetNode.subscribing
    connection.reconnect.ceiling = FleetNode.reconnectCeiling
    connection.answerLimit = FleetNode.answerLimit
    bridge = try Bridge(
      configuration, connection: connection, clientID: "tk-\(link.fleet)-\(shard)-\(keys.clientIDSuffix)", store: store,
      logger: logger)
    // All records are read by now.
    try store.checkWritable()
    try PrivateDirectory.make(settings.store.path)
    localAPI = LocalAPISocket(OperationContext(settings, bridge: bridge, logger: logger))
    (self.shard, self.claim, self.term, self.keys, self.store) = (shard, claim, term, keys, store)
  }

  /// What it is counted as.
  var figures: LeaseTable.Figures {
    let status = bridge.status
    let commits = bridge.monitor.figures.commit.snapshot
    let number = commits.counts.reduce(0, +)
    let new = lastCommits.withLock { last in
      defer { last = (number, commits.sum) }
      return (number: number - last.number, sum: commits.sum - last.sum)
    }
    return .init(
      shard: shard, epoch: claim.epoch, homes: bridge.homes.count, routers: status.counts.routers.listed,
      alerts: status.counts.alertsFiring, waiting: status.waiting,
      commitMs: new.number == 0 ? nil : 1_000 * new.sum / Double(new.number), state: .serving)
  }

  /// Of what is in the database for sure.
  var anchor: Anchor? {
    guard store.condition == .healthy, let anchor = try? store.anchor else { return nil }
    return Anchor(shard: shard, generation: anchor.generation, hash: anchor.hash)
  }

  /// Runs until `stop`, or until it cannot go on.
  ///
  /// - Returns: why it could not.
  func serve() async -> (any Error)? {
    let callers = Task { [localAPI] in try await localAPI.run() }
    var failure: (any Error)?
    do { try await bridge.serve() } catch { failure = error }
    callers.cancel()
    // The next run makes its socket in the same place.
    _ = await callers.result
    return failure
  }

  /// Returns at once, and `serve` soon, also before it was called.
  func stop() { bridge.stop() }

  private static func open(_ shard: Int, _ node: FleetNode) throws -> ShardKeys {
    do throws(CommandFailure) { return try .opened(shard, node.settings, node.database) } catch {
      guard error.status != .unavailable else { throw error }
      throw Failure(state: .noKey, message: error.message + (error.remedy.map { ". To do: \($0)" } ?? ""))
    }
  }

  /// - Throws: `Failure` where the anchor is of a state that the database does not have; `readOnly` where the database
  ///   is not what its manifest says.
  private static func check(_ store: ShardStore, _ anchor: Anchor?, topic: String) throws {
    try store.open()
    try store.checkWritable()
    guard let anchor else {
      guard store.generation > 0 else { return }
      return store.note(.anchorMissing(path: topic))
    }
    switch try store.compare(anchorOf: anchor.generation, hash: anchor.hash) {
    case .fits: break
    case .notGenuine: store.note(.anchorAltered(path: topic))
    case .rolledBack(let generations):
      throw Failure(
        state: .rolledBack,
        message: "the database was rolled back: it lacks \(generations) commits of this shard, or has others. "
          + "Restore a newer backup, or run `threadkeeper fleet accept \(store.shard)`")
    }
  }
}

/// Threads for tasks that may wait for the database: Swift's own are as few as the machine has cores.
final class WaitingTasks: TaskExecutor {
  static let shared = WaitingTasks()

  private let queue = DispatchQueue(label: "threadkeeper.shards", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

#endif
