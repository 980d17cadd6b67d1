#if Fleet
import Broker
import Glibc
import KeychainCore
import Logging
import Settings
import Synchronization
import Threadkeeper
import ThreadkeeperSupport

/// What a node asks its database, on one thread: releases, renewals, claims, in this order.
extension FleetNode {
  /// After the database has refused, or was not there.
  private static let retryInterval = Duration.milliseconds(500)
  /// From one look at the shards to the next.
  private static let watchInterval = Duration.milliseconds(200)

  func work() {
    var (isRegistered, nextRenewal) = (false, ContinuousClock.now)
    while !state.withLock({ $0.isOver }) {
      var interval = times.claim
      do throws(CommandFailure) {
        if !isRegistered {
          connect(to: try table.register(address: settings.fleet.address, capacity: settings.fleet.shardsAtMost))
          isRegistered = true
        }
        try release()
        if ContinuousClock.now >= nextRenewal {
          let next = ContinuousClock.now + times.renewal
          try renew()
          nextRenewal = next
        }
        while mayClaim, ContinuousClock.now < nextRenewal, try claim() {}
        note(nil)
        interval = min(interval, max(.zero, nextRenewal - .now))
      } catch {
        // What is wrong at the start is wrong for a person to see.
        if !isRegistered, error.status != .unavailable { return leave(error) }
        note(error)
        interval = Self.retryInterval
      }
      WakeSignal.wait(for: [signal], within: interval)
      signal.clear()
    }
  }

  /// Once the fleet's name is known: the connection that has the anchors.
  private func connect(to fleet: String) {
    let anchors = Anchors(below: settings.mqtt.baseTopic) { [weak self] problem in self?.note(brokerProblem: problem) }
    var configuration = MosquittoConfiguration(settings.mqtt, host: broker)
    configuration.clientID = "tk-\(fleet)-node-\(settings.fleet.node)"
    configuration.cleanStart = true
    configuration.subscriptions = [.init(anchors.filter)]
    configuration.stopLimit = .milliseconds(400)
    configuration.reconnect.ceiling = Self.reconnectCeiling
    configuration.answerLimit = Self.answerLimit
    let client = MosquittoClient(configuration, handler: anchors)
    state.withLock { $0.link = BrokerConnection(fleet: fleet, anchors: anchors, client: client) }
    Task {
      do { try await client.run() } catch {
        // Everything else is tried again for as long as the node runs.
        leave(CommandFailure(.configuration, "\(error)"))
      }
    }
  }

  private func release() throws(CommandFailure) {
    let releases = state.withLock { state in
      defer { state.releases = [] }
      state.isReleasing = !state.releases.isEmpty
      return state.releases
    }
    defer { state.withLock { $0.isReleasing = false } }
    // What is not released now is over in ten seconds.
    if !releases.isEmpty { try table.release(releases) }
  }

  private func renew() throws(CommandFailure) {
    let (claims, runs, figures) = state.withLock { state in
      defer { state.figures = [:] }
      return (state.leases.renewable, state.runs, state.figures)
    }
    let leases = claims.map { claim in
      figures[claim] ?? .init(shard: claim.shard, epoch: claim.epoch, state: runs[claim] == nil ? nil : .serving)
    }
    let sent = ContinuousClock.now
    guard let renewal = try table.renew(leases) else {
      let failure = CommandFailure(
        .configuration, "another process is the node \(settings.fleet.node) now, so this one ends",
        remedy: "give each node a name of its own in `fleet.node`")
      logger.critical("\(failure.message)", metadata: ["remedy": "\(failure.remedy ?? "")"])
      return leave(failure)
    }
    state.withLock { $0.isDraining = renewal.isDraining }
    apply { $0.renewed(claims, renewal.renewed, isDraining: renewal.isDraining, sent: sent) }
  }

  /// On a thread of its own: asks the shards how they are. One at work lets whoever asks it wait, and renewals must not.
  func watch() {
    var (nextAnchors, nextFigures) = (ContinuousClock.now, ContinuousClock.now)
    while !state.withLock({ $0.isOver }) {
      let (runs, now) = (runs, ContinuousClock.now)
      for run in runs where run.store.isLost || run.store.condition != .healthy { apply { $0.storeLost(run.shard) } }
      if now >= nextAnchors {
        nextAnchors = now + times.renewal
        publishAnchors(of: runs)
      }
      if now >= nextFigures {
        nextFigures = now + times.figures
        for run in runs {
          let figures = run.figures
          state.withLock { if $0.runs[run.claim] != nil { $0.figures[run.claim] = figures } }
        }
      }
      WakeSignal.wait(for: [watchSignal], within: Self.watchInterval)
    }
  }

  private var mayClaim: Bool {
    state.withLock { state in
      state.end == nil && !state.isDraining && state.leases.count < settings.fleet.shardsAtMost
        && state.leases.starting < Self.opening && state.link?.anchors.isReady == true
    }
  }

  /// - Returns: whether there was one.
  private func claim() throws(CommandFailure) -> Bool {
    let others = state.withLock { $0.leases.unclaimable(at: .now) }
    let sent = ContinuousClock.now
    let claimed = try table.claim(except: others, host: settings.fleet.address, directory: directory)
    guard let claimed else { return false }
    let claim = Leases.Claim(shard: claimed.shard, epoch: claimed.epoch)
    apply { $0.claimed(claim, homesVersion: claimed.homesVersion, sent: sent) }
    return true
  }

  // MARK: Problems

  private func note(_ error: CommandFailure?) {
    let before = state.withLock { state in
      defer { state.problems.database = error.map(\.message) }
      return state.problems.database
    }
    if let error, before != error.message {
      logger.error(
        "the database does not answer: shards that cannot be renewed are given up",
        metadata: ["reason": "\(error.message)", "remedy": "\(error.remedy ?? "")"])
    } else if error == nil, before != nil {
      logger.notice("the database answers again")
    }
  }

  private func note(brokerProblem problem: String?) {
    let (before, client) = state.withLock { state in
      defer { state.problems.broker = problem }
      return (state.problems.broker, state.link?.client)
    }
    if let problem, before != problem {
      logger.warning("no shard is claimed while the broker is away", metadata: ["reason": "\(problem)"])
    }
    client?.wake()
    signal.raise()
  }
}
#endif
