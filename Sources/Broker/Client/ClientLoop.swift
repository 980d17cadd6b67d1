import Glibc
import Synchronization
import ThreadkeeperSupport

/// From connection to connection, for ever: the body of the client's thread.
final class ClientLoop {
  private let mailbox: ClientMailbox
  private var schedule = ReconnectSchedule()

  init(mailbox: ClientMailbox) { self.mailbox = mailbox }

  func run() {
    blockBrokenPipes()
    while !mailbox.makeSignal(), mailbox.stopRequest == nil {
      _ = report(ConnectionLoss(.system("pipe", EMFILE)), nil, mailbox.configuration)
    }
    while mailbox.stopRequest == nil {
      let configuration = mailbox.takeReconnect()
      switch connect(configuration) {
      case .stopped: break
      case .abandoned: return
      case .reconnect: continue
      case .lost(let loss, let acceptance):
        if let error = report(loss, acceptance, configuration) { return mailbox.finish(.failed(error)) }
      }
    }
    mailbox.finish(.stopped)
  }

  /// libmosquitto writes to a socket that the broker may have closed, with TLS by write(2): an error is enough then.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func connect(_ configuration: MosquittoConfiguration) -> Connection.End {
    do throws(MosquittoError) {
      try configuration.check()
      guard configuration.isSessionHeld else { throw .sessionNotHeld }
      return try Connection(configuration, mailbox: mailbox, isContested: schedule.isContested).run()
    } catch { return .lost(ConnectionLoss(error), nil) }
  }

  /// Informs the handler, once it is there, and waits for the next attempt.
  ///
  /// - Returns: the error that ends the client: the configuration cannot work.
  private func report(
    _ loss: ConnectionLoss, _ accepted: ReconnectSchedule.Acceptance?, _ configuration: MosquittoConfiguration
  ) -> MosquittoError? {
    let lostAt = ContinuousClock.now
    guard let handler = mailbox.waitForHandler() else { return nil }
    let wasContested = schedule.isContested
    let isSilent = loss.error.reason == .connectionLost
    let delay = schedule.lost(
      accepted, silently: isSilent, takenOver: loss.error.reason == .sessionTakenOver, configuration.reconnect,
      chance: Double.random(in: 0..<1))
    // It lived long enough, and was lost before its next tick.
    if wasContested, !schedule.isContested { handler.sessionRegained() }
    var error = loss.error
    if schedule.isContested, isSilent, accepted != nil {
      error = .silentTakeover
    } else if schedule.suspectsTakeover, isSilent {
      error = .suspectedTakeover(error)
    }
    handler.disconnected(
      MosquittoDisconnection(
        error: error, wasConnected: accepted != nil, failures: schedule.failures,
        retryDelay: error.isFatal ? nil : delay, cause: loss.cause))
    guard !error.isFatal else { return error }
    wait(until: lostAt + delay)
    return nil
  }

  /// Waits, but not longer than until somebody wants something of us.
  private func wait(until deadline: ContinuousClock.Instant) {
    while mailbox.stopRequest == nil, !mailbox.wantsReconnect {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      var descriptor = pollfd(fd: mailbox.signal.descriptor, events: Int16(POLLIN), revents: 0)
      // Without a signal nothing ends the wait, so that it looks by itself.
      let limit: Duration = descriptor.fd < 0 ? .milliseconds(250) : left
      poll(&descriptor, 1, min(left, limit).milliseconds)
      if descriptor.revents != 0 { mailbox.signal.clear() }
    }
  }
}

/// Why a connection ended, and what the handler threw if it was the handler.
struct ConnectionLoss: Error {
  var error: MosquittoError
  var cause: (any Error)?

  init(_ error: MosquittoError, cause: (any Error)? = nil) {
    self.error = error
    self.cause = cause
  }
}

extension Duration {
  /// Rounded up, for `poll`: a wait that ends a little early would only be followed by another.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    let value = seconds.multipliedReportingOverflow(by: 1000)
    guard !value.overflow, value.partialValue < Int64(Int32.max) - 1000 else { return .max }
    return max(0, Int32(value.partialValue + attoseconds / 1_000_000_000_000_000) + 1)
  }
}

/// When to try again, and whether the pattern of losses is that of a fight with a second client. A
/// pure value: the caller brings the times and the chance.
///
/// MQTT 5 has a reason for "session taken over", but Mosquitto 2.0.11 does not send it, and
/// MQTT 3.1.1 can't. There the older client just finds its connection closed. It takes the session
/// back, the other one does the same, and so on; each of them is dropped within the other's waiting
/// time after it was let in, and is always let in at once.
///
/// A broker that restarts and keeps its sessions looks the same to who comes back a second later.
/// So after the second such loss there is no wait: a broker that is just going or coming can't let
/// us in, and one failed attempt ends the suspicion. Only a broker that went on running through
/// three losses and let us in each time in that very moment looks like a second client.
///
/// Then the session is contested: attempts are spaced again, and it stays contested until a
/// connection has lived longer than any other client of this kind would wait.
struct ReconnectSchedule {
  /// Connections in a row that failed or were short-lived.
  private(set) var failures = 0
  /// Losses in a row that fit a fight over the session.
  private(set) var silentDrops = 0

  static let soon = Duration.seconds(10)

  /// Enough to say so.
  var suspectsTakeover: Bool { silentDrops >= 3 }
  /// Another client takes the session over, or a network that cuts every connection looks like it.
  private(set) var isContested = false
  /// The next attempt is to find out whether the broker is there at all.
  private var looksAtOnce: Bool { silentDrops >= 2 && !isContested }

  /// A connection that the broker had accepted.
  struct Acceptance {
    var lifetime: Duration
    /// Something of ours was under way, or just had been: a broker may have closed the connection
    /// for what it was (Mosquitto 2.0.11 does so for a denied message with `max_queued_messages 0`).
    var wasPublishing = false
  }

  /// - Parameters:
  ///   - accepted: nil when the broker did not let us in.
  ///   - silently: the connection was closed without a reason.
  ///   - takenOver: the broker said that another client took the session over.
  ///   - chance: 0 up to 1.
  /// - Returns: how long to wait.
  mutating func lost(
    _ accepted: Acceptance?, silently: Bool, takenOver: Bool = false, _ backoff: MosquittoConfiguration.Backoff,
    chance: Double
  ) -> Duration {
    if let accepted, accepted.lifetime >= (isContested ? backoff.uncontestedAfter : backoff.stableAfter) {
      failures = 0
      isContested = false
    }
    failures += 1
    if let accepted, silently, !accepted.wasPublishing {
      let fits = accepted.lifetime < Self.soon
      // The first loss of a fight may end a long and happy connection.
      silentDrops = fits ? silentDrops + 1 : 1
    } else {
      silentDrops = 0
    }
    // Since the second of five losses the broker has let us in three times at once.
    if takenOver || silentDrops >= 5 { isContested = true }
    guard !looksAtOnce else { return .zero }
    // 2^16 times any sensible beginning is above any sensible ceiling.
    let wait = min(backoff.initial * (1 << min(failures - 1, 16)), backoff.ceiling)
    return wait * (1 - backoff.jitter * chance)
  }
}

/// What other threads want of the client's thread, and how the thread says that it is done.
final class ClientMailbox: Sendable {
  struct StopRequest { var finalPublications: [Publication] }

  /// How the work of the thread ended.
  enum End: Sendable {
    case stopped
    /// The thread is still connecting; nobody waits for it any more.
    case abandoned
    case failed(MosquittoError)
  }

  private struct State {
    var configuration: MosquittoConfiguration
    var signal = WakeSignal()
    var stop: StopRequest?
    var wantsReconnect = false
    /// True while the thread waits for its place, or looks up and connects, which nothing can interrupt. There is no
    /// session then that could be harmed: a stop does not wait for the thread.
    var isConnecting = false
    var isAbandoned = false
    /// `run` was called.
    var hasStarted = false
    /// Nil until it is known.
    var handler: (any MosquittoHandler)?
    var finish: (@Sendable (End) -> Void)?
    /// It came before `finish`.
    var end: End?

    mutating func take(_ end: End) -> (@Sendable (End) -> Void)? {
      if finish == nil { self.end = end }
      defer { finish = nil }
      return finish
    }
  }

  private let state: Mutex<State>

  init(_ configuration: MosquittoConfiguration, handler: (any MosquittoHandler)?) {
    state = Mutex(State(configuration: configuration, handler: handler))
  }

  // MARK: From any thread

  var signal: WakeSignal { state.withLock { $0.signal } }

  /// False when it has been started before.
  func start() -> Bool {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    signal.raise()
    return isFirst
  }

  /// Has `finish` called once, when the work has ended.
  func onEnd(_ finish: @escaping @Sendable (End) -> Void) {
    let end = state.withLock { state in
      if state.end == nil { state.finish = finish }
      return state.end
    }
    if let end { finish(end) }
  }

  func serve(_ configuration: MosquittoConfiguration, by handler: any MosquittoHandler) {
    state.withLock { ($0.configuration, $0.handler) = (configuration, handler) }
    signal.raise()
  }

  func requestStop(finalPublications: [Publication]) {
    let finish = state.withLock { state -> (@Sendable (End) -> Void)? in
      if state.stop == nil { state.stop = StopRequest(finalPublications: finalPublications) }
      guard state.isConnecting, !state.isAbandoned else { return nil }
      state.isAbandoned = true
      return state.take(.abandoned)
    }
    finish?(.abandoned)
    signal.raise()
  }

  func requestReconnect(_ configuration: MosquittoConfiguration?) {
    state.withLock {
      if let configuration { $0.configuration = configuration }
      $0.wantsReconnect = true
    }
    signal.raise()
  }

  // MARK: From the client's thread

  /// Makes the signal where the system had no descriptor for it before.
  ///
  /// - Returns: whether there is one.
  func makeSignal() -> Bool {
    state.withLock {
      if $0.signal.descriptor < 0 { $0.signal = WakeSignal() }
      return $0.signal.descriptor >= 0
    }
  }

  var configuration: MosquittoConfiguration { state.withLock { $0.configuration } }
  var stopRequest: StopRequest? { state.withLock { $0.stop } }
  var wantsReconnect: Bool { state.withLock { $0.wantsReconnect } }
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// Waits until `run` was called, and the handler is known.
  ///
  /// - Returns: nil: a stop came first, or the limit.
  func waitForHandler(within limit: Duration? = nil) -> (any MosquittoHandler)? {
    let deadline = limit.map { ContinuousClock.now + $0 }
    var hasWaited = false
    // Whatever was asked for meanwhile is read next.
    defer { if hasWaited { signal.raise() } }
    while true {
      let (handler, isStopped) = state.withLock { ($0.hasStarted ? $0.handler : nil, $0.stop != nil) }
      let left = deadline.map { ContinuousClock.now.duration(to: $0) } ?? .seconds(3_600)
      if handler != nil || isStopped || left <= .zero { return handler }
      hasWaited = true
      // Without a signal nothing ends the wait, so that it looks by itself.
      WakeSignal.wait(for: [signal], within: signal.descriptor < 0 ? min(left, .milliseconds(250)) : left)
      signal.clear()
    }
  }

  /// Forgets the wish to reconnect: a connection with the newest configuration is about to be made.
  func takeReconnect() -> MosquittoConfiguration {
    state.withLock {
      $0.wantsReconnect = false
      return $0.configuration
    }
  }

  /// False when a stop came first: then the thread must not connect at all.
  func beginConnecting() -> Bool {
    state.withLock {
      guard $0.stop == nil else { return false }
      $0.isConnecting = true
      return true
    }
  }

  /// False when a stop has walked away from the thread: then it must end without a word.
  func endConnecting() -> Bool {
    state.withLock {
      $0.isConnecting = false
      return !$0.isAbandoned
    }
  }

  func finish(_ end: End) {
    let finish = state.withLock { $0.take(end) }
    finish?(end)
  }
}
