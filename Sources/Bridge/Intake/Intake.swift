// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import Logging
import SQLiteDatabase
import SodiumCrypto
import Synchronization
import ThreadCredentialStore

/// The connection that listens: a batch becomes one transaction, and the acknowledgements leave when
/// it is committed. It publishes nothing.
final class Intake: MosquittoHandler {
  let transactions: TransactionRunner
  let sealed: SealedIntake
  private let outbox: Outbox
  private let pace: PublicationPace
  private let logger: Logger
  /// Only the connection's own thread comes here; the lock is for the compiler's peace.
  private let reader: Mutex<MessageReader>
  /// Whether the broker had our session at the last connection, until that is stored.
  private let owedSession = Mutex<Bool?>(nil)
  private let size = Mutex(BatchPace())
  let trial = Mutex(MessageTrial())
  let isStopping = Atomic(false)

  var store: ThreadCredentialStore { transactions.store }
  private var monitor: BridgeMonitor { transactions.monitor }
  private var clock: any Clock { transactions.clock }

  init(
    _ transactions: TransactionRunner, sealed: SealedIntake, outbox: Outbox, pace: PublicationPace,
    logger: Logger
  ) {
    self.transactions = transactions
    self.sealed = sealed
    self.outbox = outbox
    self.pace = pace
    self.logger = logger
    let (configuration, clock) = (transactions.configuration, transactions.clock)
    let store = transactions.store
    let limiter = RequestLimiter()
    let events = RequestLimiter(
      rate: configuration.eventsPerSecond, burst: configuration.eventsBurst)
    self.reader = Mutex(
      MessageReader(
        topics: configuration.topics,
        judge: { limiter.judge($0, $1, items: store.itemCount, now: clock.now()) },
        judgeEvent: { events.judge($0, price: 1, now: clock.now()) }))
  }

  func connected(_ session: MosquittoSession) {
    logger.info("intake connected", metadata: ["session_present": "\(session.sessionPresent)"])
    monitor.update { $0.intakeLogin = .accepted }
    size.withLock { $0.connected() }
    // A loss that is still owed is not made good by a session that was found since.
    owedSession.withLock { $0 = $0 == false ? false : session.sessionPresent }
    do {
      try store.checkWritable()
      try noteOwedSession()
      transactions.wake()
    } catch {
      storeFailed(error)
    }
  }

  /// Stores what the last connection found. If it could not, the next batch does: a lost session must
  /// not be forgotten because the disk was full just then.
  private func noteOwedSession() throws {
    guard let isPresent = owedSession.withLock({ $0 }) else { return }
    try noteSession(isPresent: isPresent)
    owedSession.withLock { $0 = nil }
  }

  /// Only now is everything that is published also received.
  func subscribed(refused: [SubscriptionRefusal]) {
    monitor.update {
      $0.isIntakeConnected = true
      $0.listeningSince = $0.storeProblem == nil ? clock.now() : nil
      $0.lastConnectionProblem = nil
    }
    transactions.wake()
  }

  func received(_ batch: [IncomingMessage]) throws {
    defer { wipeDeadStack() }
    let started = ContinuousClock.now
    let messages = reader.withLock { reader in batch.map { reader.read($0) } }
    do {
      try store.checkWritable()
      try noteOwedSession()
      try apply(messages, of: batch, since: started)
    } catch let error as IntakeInterrupted {
      throw error
    } catch {
      trial.withLock { $0.withdraw(in: store.keychain.database) }
      storeFailed(error)
      throw error
    }
    size.withLock { $0.applied(batch.count, in: started.duration(to: .now)) }
    pace.batchCommitted(messages: batch.count)
    transactions.wake()
  }

  var batchLimit: Int { size.withLock { $0.limit } }

  /// The batch at hand ends after the message that is being applied. From any thread.
  func stop() { isStopping.store(true, ordering: .relaxed) }

  func publications(upTo limit: Int) -> [Publication] { [] }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {}

  func sessionRegained() {
    monitor.update { $0.intakeTakeover = nil }
    logger.notice("the intake session is no longer contested")
  }

  func disconnected(_ event: MosquittoDisconnection) {
    let isRefusalNews = monitor.noteRefusal(event, at: \.intakeLogin)
    let isTakeoverNews = monitor.noteTakeover(event, of: \.intakeTakeover)
    monitor.update {
      $0.intakeReconnects += 1
      $0.lastConnectionProblem = event.error.message
      $0.isIntakeConnected = false
      $0.listeningSince = nil
    }
    // A store that takes no message has a line of its own, once for all attempts.
    let isNews = isRefusalNews && isTakeoverNews && event.error.reason != .handler
    logger.log(
      level: isNews ? .warning : .debug, "intake disconnected",
      metadata: ["reason": "\(event.error.message)"])
  }

  /// A batch is on disk, so the broker is reached: it sends what waited in the session before it answers the subscription.
  func committed() {
    monitor.update { $0.isIntakeConnected = true }
    if monitor.storeWorks(at: clock.now(), inBatch: true) {
      logger.notice("the store can be written again")
    }
  }

  func notePublished(_ tx: WriteTransaction) throws {
    let published = outbox.published
    if published > 0, try EventLedger.published(tx) < published {
      try EventLedger.setPublished(published, tx)
    }
  }

  /// A broker that has forgotten the session has also forgotten what waited in it.
  private func noteSession(isPresent: Bool) throws {
    try transactions.run(wakes: false) { transaction in
      let tx = transaction.tx
      let wasConnected =
        try tx.first("SELECT intake_connected FROM outbox") { $0.integer(0) != 0 } ?? false
      if let home = transaction.context.servedHomes.first {
        let isLost = wasConnected && !isPresent
        try transaction.apply([
          .alert(.sessionLost, isLost ? .sessionLost : nil, home: home.record.id)
        ])
      }
      if !wasConnected { try tx.execute("UPDATE outbox SET intake_connected = 1") }
    }
  }

  private func storeFailed(_ error: any Error) {
    let path = store.keychain.location.directory
    if let reason = monitor.storeFailed(error, path: path, at: clock.now(), inBatch: true) {
      logger.error("intake stands still", metadata: ["reason": "\(reason)"])
    }
    transactions.wake()
  }
}
