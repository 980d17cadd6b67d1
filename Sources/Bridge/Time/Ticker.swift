// SPDX-License-Identifier: Apache-2.0

import Broker
import Dispatch
import Logging
import SQLiteDatabase
import Synchronization
import ThreadCredentialStore

/// Turns the clock into transactions, once a second.
final class Ticker: Sendable {
  private let transactions: TransactionRunner
  private let outbox: Outbox
  private let pace: PublicationPace
  private let status: StatusConnection
  private let onTurn: @Sendable (BridgeMonitor.Snapshot) -> Void
  private let logger: Logger
  private let cursors: Mutex<TickCursors>
  private let areBasesSettled = Mutex(false)
  private let rest = Mutex(RestWatch())
  private let droppedGrew = Mutex<WireTime?>(nil)
  private let queue = DispatchQueue(label: "threadkeeper.ticker")
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameter onTurn: called when a tick is over, on the queue of the ticks.
  init(
    _ transactions: TransactionRunner, outbox: Outbox, pace: PublicationPace,
    status: StatusConnection, onTurn: @escaping @Sendable (BridgeMonitor.Snapshot) -> Void,
    logger: Logger
  ) {
    self.transactions = transactions
    self.outbox = outbox
    self.pace = pace
    self.status = status
    self.onTurn = onTurn
    self.logger = logger
    cursors = Mutex(TickCursors(since: transactions.clock.moment()))
  }

  private var store: ThreadCredentialStore { transactions.store }
  private var monitor: BridgeMonitor { transactions.monitor }

  func start(every interval: DispatchTimeInterval = .seconds(1)) {
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { [self] in tick() }
      source.schedule(deadline: .now() + interval, repeating: interval)
      source.resume()
      timer = source
    }
  }

  /// Returns when the last tick is over.
  func stop() {
    timer.withLock {
      $0?.cancel()
      $0 = nil
    }
    queue.sync {}
    writeTick(isLast: true)
  }

  private func tick() {
    writeTick()
    pace.look()
    status.periodic(now: transactions.clock.now())
    transactions.wake()
    onTurn(monitor.snapshot)
  }

  /// - Parameter isLast: nothing that it makes would leave any more.
  private func writeTick(isLast: Bool = false) {
    let now = noticeJump()
    if !isLast, monitor.takeCheck(at: now) { checkStore(now) }
    let devices = outbox.deviceResults
    do {
      let (next, changes) = try transactions.run(at: now, wakes: false) { transaction in
        var next = cursors.withLock { $0 }
        let known = monitor.snapshot
        try TickApplier(
          transaction: transaction, listeningSince: known.listeningSince,
          connection: known.isStatusConnected && !isLast ? known.statusConnections : nil,
          deliveries: transactions.answers.deliveries
        ).apply(&next)
        try watchDroppedMessages(transaction)
        try watchLogin(transaction)
        try watchSessions(transaction)
        try watchDevices(transaction)
        try noteWalks(transaction.tx)
        if !devices.isEmpty { try devices.write(transaction.tx) }
        // A store that failed is tried with a real write: only that tells whether it works again.
        if monitor.snapshot.storeProblem != nil { try EventLedger.probe(transaction.tx) }
        let published = outbox.published
        if try EventLedger.published(transaction.tx) < published {
          try EventLedger.setPublished(published, transaction.tx)
        }
        return (next, transaction.tx.totalChanges)
      }
      // Only now: what a failed tick has done is undone, and due again at the next one.
      cursors.withLock { $0 = next }
      outbox.forget(devices)
      try store.keychain.tick()
      if rest.withLock({ $0.tick(changes: changes) }) {
        logger.debug("the store is at rest: memory is given back")
        try store.keychain.database.releaseMemory()
      }
      transactions.logRejections()
      if monitor.storeWorks(at: now, inBatch: false) {
        logger.notice("the store can be written again")
      }
    } catch {
      let path = store.keychain.location.directory
      if let reason = monitor.storeFailed(error, path: path, at: now, inBatch: false) {
        logger.error("the store cannot be written", metadata: ["reason": "\(reason)"])
      }
    }
  }

  /// Where the clock has jumped, the deadlines of this process are reset. The start times in the store are shifted with
  /// the next transaction that succeeds.
  ///
  /// - Returns: now.
  private func noticeJump() -> WireTime {
    let moment = transactions.clock.moment()
    guard let jump = cursors.withLock({ $0.clock.notice(moment) }) else { return moment.wall }
    logger.notice("the clock has jumped", metadata: ["seconds": "\(jump / 1_000)"])
    monitor.clockJumped(to: moment.wall)
    transactions.clockJumped()
    status.clockJumped(to: moment.wall)
    return moment.wall
  }

  /// A damaged page was found: creates again what can be, and stops all writing where it cannot.
  private func checkStore(_ now: WireTime) {
    let path = store.keychain.location.directory
    do {
      let repair = RegistryRepair(
        configuration: transactions.configuration, store: store, parts: transactions.parts)
      switch try repair.run(now: now) {
      case .sound: logger.notice("a check of the whole store found no damage")
      case .recreated(let tables):
        let published = try store.keychain.database.read { try EventLedger.published($0) }
        outbox.restart(after: published)
        outbox.republishAll()
        monitor.storeIsRepaired(at: now)
        logger.critical(
          "damaged tables of the store were recreated",
          metadata: ["tables": "\(tables.joined(separator: ", "))"])
      case .unrepairable(let tables):
        store.keychain.noteFileDamaged()
        let reason = StoreFailure.damaged(tables, path: path)
        monitor.storeIsUnrepairable(reason, at: now)
        logger.critical("intake stands still", metadata: ["reason": "\(reason)"])
      }
    } catch {
      if let reason = monitor.storeFailed(error, path: path, at: now, inBatch: false) {
        logger.error("the store cannot be checked", metadata: ["reason": "\(reason)"])
      }
    }
  }

  /// A walk that ends with the process is begun again by the next one.
  private func noteWalks(_ tx: WriteTransaction) throws {
    let owes = outbox.isRepublishing
    if try EventLedger.needsRepublish(tx) != owes {
      try EventLedger.setNeedsRepublish(owes, tx)
    }
    guard !outbox.isWalking, !areBasesSettled.withLock({ $0 }) else { return }
    try BridgeStart.settleBases(transactions.configuration, tx)
    areBasesSettled.withLock { $0 = true }
  }

  /// Firing while the broker's count of dropped messages grows, and for ten minutes after. The last
  /// count is stored, so that what was dropped while the daemon was away is noticed too.
  private func watchDroppedMessages(_ transaction: BridgeTransaction) throws {
    guard let home = transaction.context.servedHomes.first else { return }
    if let count = status.droppedMessages {
      let before = try EventLedger.droppedMessages(transaction.tx)
      if let before, count > before { droppedGrew.withLock { $0 = transaction.now } }
      if before != count { try EventLedger.setDroppedMessages(count, transaction.tx) }
    }
    // Not of a time to come: the clock was set back.
    let isRecent =
      droppedGrew.withLock { $0 }
      .map { $0 <= transaction.now && transaction.now < $0.adding(seconds: 600) } ?? false
    try transaction.apply([
      .alert(.messagesDropped, isRecent ? .messagesDropped : nil, home: home.record.id)
    ])
  }

  /// Firing from the broker's first no to its next yes. Of a broker that is away nothing is known:
  /// then the alert stays as it is, also over a restart.
  private func watchLogin(_ transaction: BridgeTransaction) throws {
    guard let home = transaction.context.servedHomes.first else { return }
    let wanted: AlertFacts?
    switch monitor.snapshot.login {
    case .unknown: return
    case .accepted: wanted = nil
    case .refused(let words):
      wanted = AlertFacts(
        summary: words,
        remedy: transactions.configuration.loginRemedy)
    }
    try transaction.apply([.alert(.brokerAuthenticationFailed, wanted, home: home.record.id)])
  }

  /// A notice. It ends by itself.
  private func watchDevices(_ transaction: BridgeTransaction) throws {
    guard let altered = monitor.alteredDevice(at: transaction.now),
      let home = transaction.context.servedHomes.first(where: { $0.record.name == altered.home })
    else { return }
    try transaction.apply([
      .alert(.discoveryAltered, .discoveryAltered(topic: altered.topic), home: home.record.id)
    ])
  }

  /// Firing from the takeover of a session until both have been the daemon's own for long enough.
  private func watchSessions(_ transaction: BridgeTransaction) throws {
    guard let home = transaction.context.servedHomes.first else { return }
    let takeover = monitor.snapshot.takeover.map(AlertFacts.takeover)
    try transaction.apply([.alert(.sessionTakenOver, takeover, home: home.record.id)])
  }
}
