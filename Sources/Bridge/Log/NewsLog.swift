// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Logging
import Synchronization

/// The lines of the log about what is on disk: what has happened, and which messages were rejected.
final class NewsLog: Sendable {
  private let isOnlyHome: Bool
  private let logger: Logger
  private let pace = Mutex(NewsPace())
  private let rejections = Mutex(RejectionLines())

  init(isOnlyHome: Bool, logger: Logger) {
    self.isOnlyHome = isOnlyHome
    self.logger = logger
  }

  func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews {
    BatchNews(batch, isOnlyHome: isOnlyHome, home: home)
  }

  func note(_ batch: CommittedBatch) {
    let now = batch.time
    if batch.received > 0 {
      // A flood of messages must not flood the log.
      pace.withLock { batch.news.log(to: logger, &$0, at: now) }
    } else {
      batch.news.log(to: logger)
    }
    logRejections(batch.rejections, at: now)
  }

  /// Also called by the clock: lines may be due that no message brings about.
  func logRejections(_ more: [String: Rejections] = [:], at now: WireTime) {
    let due = rejections.withLock { $0.take(more, at: now) }
    for (code, rejected) in due {
      var metadata: Logger.Metadata = ["code": "\(code)", "count": "\(rejected.count)"]
      metadata["reason"] = (rejected.example?.reason).map { "\($0)" }
      metadata["topic"] = (rejected.example?.topic).map { "\($0)" }
      logger.warning("messages rejected", metadata: metadata)
    }
  }

  /// What waits for a time by another clock waits no more.
  func clockJumped() { rejections.withLock { $0.clockJumped() } }
}
