import Broker
import KeychainCore
import Logging
import Synchronization

/// The connection that listens: what routers and clients publish goes into the loop, and the acknowledgements leave
/// when it is committed. It publishes nothing.
final class IntakeConnection: MosquittoHandler {
  /// Messages that come at once, at most. A batch is committed after 250 ms anyway.
  static let batchMessages = 500

  private let loop: HomeLoop
  private let store: any DaemonStore
  private let monitor: BridgeMonitor
  private let clock: any Clock
  /// Wakes the connection that publishes, and the ticks.
  private let wake: @Sendable () -> Void
  private let logger: Logger
  /// Whether the broker had our session at the last connection, until that is stored.
  private let owedSession = Mutex<Bool?>(nil)

  init(
    _ loop: HomeLoop, store: any DaemonStore, monitor: BridgeMonitor, clock: any Clock,
    wake: @escaping @Sendable () -> Void, logger: Logger
  ) {
    self.loop = loop
    self.store = store
    self.monitor = monitor
    self.clock = clock
    self.wake = wake
    self.logger = logger
  }

  func connected(_ session: MosquittoSession) {
    logger.info("intake connected", metadata: ["session_present": "\(session.sessionPresent)"])
    if monitor.accepted(.intake) { logger.warning("\(MutualEnds.reason)") }
    // A loss that is still owed is not made good by a session that was found since.
    owedSession.withLock { $0 = $0 == false ? false : session.sessionPresent }
    do { try noteOwedSession() } catch { storeFailed(error) }
  }

  /// Stores what the last connection found. If it could not, the next batch does: a lost session must
  /// not be forgotten because the disk was full just then.
  ///
  /// - Returns: whether the store had failed, and takes something again.
  @discardableResult private func noteOwedSession() throws -> Bool {
    try store.checkWritable()
    // Messages without news write nothing, and would be acknowledged by a store that is gone.
    let hadFailed = monitor.snapshot.storeProblem != nil
    if hadFailed { try loop.probe() }
    guard let isPresent = owedSession.withLock({ $0 }) else { return hadFailed }
    try loop.connected(isSessionPresent: isPresent)
    owedSession.withLock { $0 = nil }
    return hadFailed
  }

  /// Only now is everything that is published also received.
  func subscribed(refused: [SubscriptionRefusal]) {
    monitor.update {
      $0.intakeLink.isConnected = true
      $0.listeningSince = $0.storeProblem == nil ? clock.now() : nil
      $0.lastConnectionProblem = nil
    }
    wake()
  }

  func received(_ batch: [IncomingMessage]) throws {
    let hadFailed: Bool
    do {
      hadFailed = try noteOwedSession()
      try loop.received(batch)
    } catch {
      storeFailed(error)
      throw error
    }
    // A batch is on disk, so the broker is reached: it sends what waited in the session before it answers the
    // subscription.
    monitor.update { $0.intakeLink.isConnected = true }
    if hadFailed, monitor.storeWorks(at: clock.now(), inBatch: true) { logger.notice("the store can be written again") }
  }

  var batchLimit: Int { loop.batchLimit }

  func publications(upTo limit: Int) -> [Publication] { [] }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {}

  func sessionRegained() {
    monitor.regained(.intake)
    logger.notice("the intake session is no longer contested")
  }

  func disconnected(_ event: MosquittoDisconnection) {
    let end = monitor.ended(.intake, event)
    if end.areMutual { logger.warning("\(MutualEnds.reason)") }
    monitor.update {
      $0.intakeReconnects += 1
      $0.listeningSince = nil
    }
    // A store that takes no message has a line of its own, once for all attempts.
    let isNews = end.isNews && event.error.reason != .handler
    logger.log(level: isNews ? .warning : .debug, "intake disconnected", metadata: ["reason": "\(event.error.message)"])
    wake()
  }

  private func storeFailed(_ error: any Error) {
    store.noteFailure(error)
    if let reason = monitor.storeFailed(error, path: store.place, at: clock.now(), inBatch: true) {
      logger.error("intake stands still", metadata: ["reason": "\(reason)"])
    }
    wake()
  }
}
