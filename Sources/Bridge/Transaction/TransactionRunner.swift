// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import Logging
import SQLiteDatabase
import SodiumCrypto
import Synchronization
import ThreadCredentialStore

/// Runs all transactions of the bridge: for a message, a request, a person, the clock. Those of the start
/// and of a repair are parts of others; nothing follows from them.
///
/// What follows from a transaction is applied here once it is on disk, so it is the same for all of them: counters,
/// answers, messages to routers, lines of the log, and the wake-up of the connection that publishes.
final class TransactionRunner: Sendable {
  let configuration: BridgeConfiguration
  let parts: RequestParts
  let store: ThreadCredentialStore
  let clock: any Clock
  let monitor: BridgeMonitor
  let answers: AnswerQueue
  /// Nil for a command without a daemon, which prints itself what it has done.
  let logger: Logger?
  private let wakePublisher: @Sendable () -> Void
  private let newsPace = Mutex(NewsPace())
  private let rejectionLines = Mutex(RejectionLines())

  init(
    _ configuration: BridgeConfiguration, store: ThreadCredentialStore, parts: RequestParts,
    monitor: BridgeMonitor, answers: AnswerQueue, clock: any Clock, logger: Logger?,
    wakePublisher: @escaping @Sendable () -> Void
  ) {
    var parts = parts
    parts.reach(answers.callers)
    self.parts = parts
    self.configuration = configuration
    self.store = store
    self.monitor = monitor
    self.answers = answers
    self.clock = clock
    self.logger = logger
    self.wakePublisher = wakePublisher
  }

  /// For a command that has the store for itself. What there is to publish, the next daemon does.
  convenience init(
    _ configuration: BridgeConfiguration, keychain: Keychain, parts: RequestParts = RequestParts(),
    clock: any Clock
  ) throws {
    let store = ThreadCredentialStore(keychain)
    _ = try BridgeStart.prepare(configuration, store: store, now: clock.now())
    self.init(
      configuration, store: store, parts: parts, monitor: BridgeMonitor(), answers: AnswerQueue(),
      clock: clock, logger: nil, wakePublisher: {})
  }

  /// A transaction of its own. It is on disk, and what follows from it is applied, when this returns.
  ///
  /// - Parameters:
  ///   - actor: who is named in the audit; nil: the daemon, or whom `body` names.
  ///   - now: nil: the clock's.
  ///   - writes: whether it needs a store that can be written. Checked before and after: what is decided while the
  ///     store is found altered may rest on items that are missing from it.
  ///   - isPaced: whether its lines of the log are bounded by time, for messages: a flood of them must not flood the
  ///   log.
  ///   - wakes: whether the publisher is woken where there is something to publish; false where the caller does so.
  /// - Throws: what `body` throws, or the store; then nothing has happened.
  func run<R>(
    as actor: String? = nil, at now: WireTime? = nil, writes: Bool = true, isPaced: Bool = false,
    wakes: Bool = true,
    _ body: (BridgeTransaction) throws -> R
  ) throws -> R {
    defer { wipeDeadStack() }
    let now = now ?? clock.now()
    let began = ContinuousClock.now
    let (result, outcome) = try store.keychain.database.write { tx in
      if writes { try store.checkWritable() }
      if let actor { store.keychain.act(as: actor, in: tx) }
      let applied = try Self.apply(configuration, store, parts, now: now, tx, body)
      if writes { try store.checkWritable() }
      return applied
    }
    monitor.figures.commit.add(began.duration(to: .now))
    if outcome.counts.received > 0 { monitor.figures.batch.add(Double(outcome.counts.received)) }
    follow(outcome, isPaced, now)
    if wakes, outcome.isPublished { wakePublisher() }
    return result
  }

  /// The same inside a transaction in which others write as well. What follows is the caller's.
  static func apply<R>(
    _ configuration: BridgeConfiguration, _ store: ThreadCredentialStore,
    _ parts: RequestParts = RequestParts(), now: WireTime, _ tx: WriteTransaction,
    _ body: (BridgeTransaction) throws -> R
  ) throws -> (result: R, outcome: TransactionOutcome) {
    let transaction = try BridgeTransaction(configuration, store, parts, now: now, tx)
    let result = try body(transaction)
    try transaction.finish()
    return (result, transaction.progress.outcome)
  }

  func wake() { wakePublisher() }

  private func follow(_ outcome: TransactionOutcome, _ isPaced: Bool, _ now: WireTime) {
    monitor.count(outcome.counts)
    answers.add(outcome.answers, now: now)
    answers.deliveries.deliver(outcome.adoptionMessages, to: answers, now: now)
    monitor.recent.add(outcome.news.events(at: now))
    guard let logger else { return }
    if isPaced {
      newsPace.withLock { outcome.news.log(to: logger, &$0, at: now) }
    } else {
      outcome.news.log(to: logger)
    }
    logRejections(outcome.counts.rejected, outcome.counts.rejectionExamples)
  }

  func clockJumped() { rejectionLines.withLock { $0.clockJumped() } }

  /// Also called by the clock: lines may be due that no message brings about.
  func logRejections(
    _ rejected: [String: Int64] = [:], _ examples: [String: RejectionLines.Example] = [:]
  ) {
    let due = rejectionLines.withLock { $0.take(rejected, examples, at: clock.now()) }
    for (code, count, example) in due {
      var metadata: Logger.Metadata = ["code": "\(code)", "count": "\(count)"]
      metadata["reason"] = example.map { "\($0.reason)" }
      metadata["topic"] = example?.topic.map { "\($0)" }
      logger?.warning("messages rejected", metadata: metadata)
    }
  }
}
