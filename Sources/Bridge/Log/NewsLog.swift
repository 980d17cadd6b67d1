import Broker
import Home
import Logging
import Synchronization

/// The lines of the log about what is on disk: what has happened, and which messages were rejected.
final class NewsLog: Sendable {
  let ways: RemedyWays
  private let logger: Logger
  private let pace = Mutex(Noticed<BatchNews.Matter>())
  private let rejections = Mutex(RejectionLines())

  private struct RejectionLines {
    var pace = Noticed<String>()
    /// The last of each code that no line has counted yet.
    var examples: [String: Rejections] = [:]
  }

  init(ways: RemedyWays, logger: Logger) {
    self.ways = ways
    self.logger = logger
  }

  func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews { BatchNews(batch, ways: ways, home: home) }

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

  /// One line for each code in ten seconds; every single message is on `bridge/event`. Also called by the clock: lines
  /// may be due that no message brings about.
  func logRejections(_ more: [String: Rejections] = [:], at now: WireTime) {
    let due = rejections.withLock { lines -> [(String, Int, Rejections)] in
      lines.examples.merge(more) { $1 }
      return lines.examples.sorted { $0.key < $1.key }.compactMap { code, example in
        let count = lines.pace.take(1, of: code, counting: more[code]?.count ?? 0, at: now).count
        guard count > 0 else { return nil }
        lines.examples[code] = nil
        return (code, count, example)
      }
    }
    for (code, count, example) in due {
      var metadata: Logger.Metadata = ["code": "\(code)", "count": "\(count)"]
      metadata["reason"] = example.reason.map { "\($0)" }
      metadata["topic"] = example.topic.map { "\($0)" }
      logger.warning("messages rejected", metadata: metadata)
    }
  }
}
