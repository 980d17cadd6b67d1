// SPDX-License-Identifier: Apache-2.0

import Broker
import Dispatch
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
  private let transactions: TransactionRunner
  private let home: String
  private let logger: Logger
  private let state = Mutex(DiscoveryRecords())
  private let queue = DispatchQueue(label: "threadkeeper.discovery")
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameter home: the one that the local network belongs to.
  init(_ transactions: TransactionRunner, home: String, logger: Logger) {
    self.transactions = transactions
    self.home = home
    self.logger = logger
  }

  /// Rounds that are over, successful or not.
  var rounds: Int { state.withLock { $0.rounds } }

  package var current: DiscoveryState {
    state.withLock { state in
      if let obstacle = state.obstacle {
        return .unavailable(message: obstacle.message, remedy: obstacle.remedy)
      }
      if let failure = state.failure {
        return .unavailable(
          message: "What is found cannot be stored: \(failure).",
          remedy: "It is tried again each minute.")
      }
      guard state.isComplete else { return .starting }
      return .running(routers: state.listed, refused: state.refused + state.unusable.count)
    }
  }

  package func start() {
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
  }

  /// Takes what the browser has found. Returns at once.
  package func receive(_ update: ServiceUpdate) {
    let now = transactions.clock.now()
    let delay = state.withLock { $0.take(update, at: now) }
    note(update)
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
    case .found, .lost: break
    }
  }

  func write() {
    let now = transactions.clock.now()
    let known = state.withLock { state in
      state.startHour(at: now)
      return state
    }
    guard !known.isStopped, known.isComplete || !known.records.isEmpty else { return }
    var memory = known.memory
    do {
      let (listed, refused) = try transactions.run(at: now, isPaced: true) { transaction in
        try DiscoveryApplier(
          transaction: transaction, home: transaction.context.home(named: home)
        ).apply(
          known.records.map(\.router), isComplete: known.isComplete, lastSeen: known.lastSeen,
          memory: &memory)
      }
      state.withLock {
        ($0.listed, $0.refused, $0.failure) = (listed, refused, nil)
        $0.memory = memory
        $0.lastSeen = $0.lastSeen.filter { known.lastSeen[$0.key] != $0.value }
        $0.rounds += 1
      }
    } catch {
      let reason = StoreFailure.reason(error, path: transactions.store.keychain.location.directory)
      let isNews = state.withLock { state in
        defer {
          state.failure = reason
          state.rounds += 1
        }
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
