// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import Synchronization

/// A batch that is given up after a part of it: the connection ends without an acknowledgement, and all of it comes
/// again.
struct IntakeInterrupted: Error, CustomStringConvertible {
  let description: String

  static let stopped = IntakeInterrupted(description: "the daemon is stopping")
  static let tooSlow = IntakeInterrupted(
    description: "a batch of messages takes too long; the next ones are smaller")
}

/// A batch as transactions of bounded work.
extension Intake {
  private enum Bound {
    /// Rows that one transaction changes before it is committed.
    static let rows = 10_000
    /// The same in time.
    static let time = Duration.seconds(1)
    /// A quarter of the keep-alive of 60 seconds. The broker ends a connection that is silent for 90.
    static let batch = Duration.seconds(15)
  }

  /// A part of a batch that was rolled back.
  private struct PartFailed: Error {
    let error: any Error
    /// Which message it was; nil when it was what follows from all of them.
    let index: Int?
  }

  /// Applies messages in as many transactions as it takes. A message that cannot be applied, though the store works,
  /// is found by smaller and smaller parts, and rejected alone.
  func apply(
    _ messages: [InboundMessage], of batch: [IncomingMessage],
    since started: ContinuousClock.Instant
  ) throws {
    if batch.count == 1, batchLimit == 1 {
      let ends = try trial.withLock { try $0.begin(batch[0], in: store.keychain.database) }
      if ends >= MessageTrial.limit {
        for message in messages {
          try reject(message, "the daemon has ended \(ends) times while it applied it")
        }
        return
      }
    }
    var first = 0
    var most = messages.count
    while first < messages.count {
      let part = messages[first..<min(first + most, messages.count)]
      do {
        first += try commit(part)
        most = messages.count
      } catch let failure as PartFailed {
        guard StoreFailure.isOfMessage(failure.error) else { throw failure.error }
        if part.count == 1 {
          try reject(part[first], StoreFailure.brief(failure.error))
          first += 1
          most = messages.count
        } else {
          most = max(1, failure.index.map { $0 - first } ?? part.count / 2)
        }
      }
      guard first < messages.count else { return }
      if isStopping.load(ordering: .relaxed) { throw IntakeInterrupted.stopped }
      if started.duration(to: .now) > Bound.batch { throw IntakeInterrupted.tooSlow }
    }
  }

  /// - Returns: how many of the messages were applied and committed.
  private func commit(_ part: ArraySlice<InboundMessage>) throws -> Int {
    let started = ContinuousClock.now
    var index: Int? = part.startIndex
    do {
      let count = try transactions.run(isPaced: true, wakes: false) { transaction in
        let rows = transaction.tx.totalChanges
        var count = 0
        for message in part {
          index = part.startIndex + count
          try transaction.messages.apply(message, sealed)
          count += 1
          if transaction.tx.totalChanges - rows > Bound.rows
            || started.duration(to: .now) > Bound.time
            || isStopping.load(ordering: .relaxed)
          {
            break
          }
        }
        index = nil
        try notePublished(transaction.tx)
        try MessageTrial.end(transaction.tx)
        return count
      }
      committed()
      return count
    } catch {
      throw PartFailed(error: error, index: index)
    }
  }

  private func reject(_ message: InboundMessage, _ reason: String) throws {
    try transactions.run(isPaced: true, wakes: false) { transaction in
      try transaction.messages.reject(message, because: reason)
      try MessageTrial.end(transaction.tx)
    }
    committed()
  }
}
