import Dispatch
import Home
import Logging
import ServiceDiscovery
import Synchronization

/// Gathers what border routers advertise on the local network, and has it written: soon after a change, and once a
/// minute in any case.
///
/// All routers that are found belong to one home, the first of the settings: a daemon is on one local network.
package final class DiscoveryIntake: Sendable {
  /// Between two looks at all that is known, in seconds.
  private static let interval = 60
  private let loop: HomeLoop
  private let home: String
  /// The store's directory.
  private let path: String
  private let clock: any Clock
  private let logger: Logger
  private let state = Mutex(DiscoveryRecords())
  private let queue = DispatchQueue(label: "threadkeeper.discovery")
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)
  /// Nil where the settings want none.
  package let reader: RouterReader?
  package let codes: CodeReader?
  /// Nil where none of this machine's programs needs the devices.
  private let devices: PathWatch?

  /// - Parameters:
  ///   - home: the first one.
  ///   - reader: of what is found.
  ///   - codes: reads what shows a code.
  ///   - devices: looks whether this machine reaches them.
  ///   - path: the store's directory, which is named when the store fails.
  init(
    _ loop: HomeLoop, home: String, reader: RouterReader? = nil, codes: CodeReader? = nil, devices: PathWatch? = nil,
    path: String, clock: any Clock, logger: Logger
  ) {
    self.loop = loop
    self.home = home
    self.reader = reader
    self.codes = codes
    self.devices = devices
    self.path = path
    self.clock = clock
    self.logger = logger
  }

  /// Rounds that are over, successful or not.
  var rounds: Int { state.withLock { $0.rounds } }

  package var current: DiscoveryState {
    let now = clock.moment()
    return state.withLock { state in
      let isReported = state.isReported(at: now)
      if let obstacle = state.obstacle, !isReported {
        return .unavailable(message: obstacle.message, remedy: obstacle.remedy)
      }
      if let failure = state.failure {
        return .unavailable(
          message: "What is found cannot be stored: \(failure).", remedy: "It is tried again each minute.")
      }
      guard !state.isSilent(at: now) else {
        return .unavailable(
          message: "The agent that sees the border routers has not reported for three minutes.",
          remedy: "Look at its log, or restart it.")
      }
      guard state.isComplete || isReported else { return .starting }
      var current = DiscoveryState.running(routers: state.listed, unlisted: state.unlisted(at: now.wall))
      current.reporter = isReported ? state.reporter : nil
      return current
    }
  }

  package func start() {
    reader?.start()
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { [weak self] in self?.write() }
      let interval = DispatchTimeInterval.seconds(Self.interval)
      source.schedule(deadline: .now() + interval, repeating: interval)
      source.resume()
      timer = source
    }
  }

  /// Returns when nothing is written any more.
  package func stop() {
    timer.withLock {
      $0?.cancel()
      $0 = nil
    }
    state.withLock { $0.isStopped = true }
    queue.sync {}
    codes?.stop()
    reader?.stop()
  }

  /// Takes what the browser has found. Returns at once.
  package func receive(_ update: ServiceUpdate) {
    let now = clock.now()
    schedule(state.withLock { $0.take(update, at: now) })
    note(update)
  }

  /// Takes that a router can be opened with a code now, or no more. Returns at once.
  package func receiveCode(_ update: ServiceUpdate) {
    let now = clock.moment()
    schedule(state.withLock { $0.takeCode(update, at: now) })
  }

  /// Takes what is announced of a TREL peer. Returns at once.
  package func receivePeer(_ update: ServiceUpdate) {
    let now = clock.now()
    state.withLock { $0.peers.take(update, at: now) }
  }

  /// Takes what an agent sees on the local network. Returns at once.
  ///
  /// - Parameter user: its login.
  func receive(_ list: [Advertisement], of user: String) {
    let now = clock.moment()
    schedule(state.withLock { $0.take(list, of: ExactName(user), at: now) })
  }

  private func schedule(_ delay: Int?) {
    guard let delay else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
      self?.state.withLock { $0.isScheduled = false }
      self?.write()
    }
  }

  private func note(_ update: ServiceUpdate) {
    switch update {
    case .unavailable(let obstacle):
      logger.notice(
        "border routers are not looked for on the local network",
        metadata: ["reason": "\(obstacle.message)", "remedy": "\(obstacle.remedy)"])
    case .listed: logger.info("the border routers on the local network are listed")
    case .found, .unusable, .lost: break
    }
  }

  func write() {
    let now = clock.moment()
    let before = loop.homes.home(home)
    let seen = state.withLock { state in
      state.look(at: now) { before?.mayReportSightings($0) == true }.map { ($0, state.unnamedHosts(at: now)) }
    }
    guard let (sightings, unnamed) = seen else { return }
    defer { state.withLock { $0.rounds += 1 } }
    do {
      try loop.see(sightings)
      let home = loop.homes.home(home)
      state.withLock { $0.written(sightings, by: home) }
      if let home {
        reader?.update(sightings.list, in: home)
        codes?.update(sightings.list, unnamed: unnamed, in: home)
        try devices?.look(home)
      }
    } catch {
      let reason = StoreFailure.reason(error, path: path)
      let isNews = state.withLock { state in
        defer { state.failure = reason }
        return state.failure != reason
      }
      if isNews {
        logger.warning(
          "the border routers on the local network cannot be written; tried again each minute",
          metadata: ["reason": "\(reason)"])
      }
    }
  }
}
