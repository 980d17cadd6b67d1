// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Logging
import Synchronization

/// The lines of the log about what is on disk: what has happened, and which messages were rejected. The same as
/// sentences are in the monitor's `recent`.
final class NewsLog: Sendable {
  private let monitor: BridgeMonitor
  private let isOnlyHome: Bool
  private let logger: Logger
  private let pace = Mutex(NewsPace())
  private let rejections = Mutex(RejectionLines())

  init(monitor: BridgeMonitor, isOnlyHome: Bool, logger: Logger) {
    self.monitor = monitor
    self.isOnlyHome = isOnlyHome
    self.logger = logger
  }

  /// - Parameter home: one of them by its name, as it is on disk.
  func note(_ batch: CommittedBatch, home: (String) -> Home?) {
    let now = batch.time
    let news = BatchNews(batch, isOnlyHome: isOnlyHome, home: home)
    monitor.recent.add(news.events(at: now))
    if batch.received > 0 {
      // A flood of messages must not flood the log.
      pace.withLock { news.log(to: logger, &$0, at: now) }
    } else {
      news.log(to: logger)
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
