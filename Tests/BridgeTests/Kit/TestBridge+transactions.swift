// SPDX-License-Identifier: Apache-2.0

import Logging

@testable import Bridge

extension Logger {
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension TestBridge {
  /// What runs the transactions of the bridge's parts.
  ///
  /// - Parameter wakes: called when there is something to publish.
  func runner(
    _ monitor: BridgeMonitor = BridgeMonitor(), answers: AnswerQueue = AnswerQueue(),
    clock: (any Clock)? = nil, logger: Logger = .silent, wakes: @escaping @Sendable () -> Void = {}
  ) -> TransactionRunner {
    TransactionRunner(
      configuration, store: store, parts: parts, monitor: monitor, answers: answers,
      clock: clock ?? self.clock, logger: logger, wakePublisher: wakes)
  }

  func intake(_ transactions: TransactionRunner, outbox: Outbox? = nil) throws -> Intake {
    Intake(
      transactions, sealed: sealed, outbox: try outbox ?? self.outbox(transactions.monitor),
      pace: PublicationPace(fullBatch: 500, portion: 10), logger: .silent)
  }

  /// One transaction, and what would follow from it.
  func transaction<R>(
    _ body: (BridgeTransaction) throws -> R
  ) throws -> (result: R, outcome: TransactionOutcome) {
    try database.write {
      try TransactionRunner.apply(configuration, store, parts, now: clock.now(), $0, body)
    }
  }
}
