import Broker
import Home
import Logging
import Synchronization
import ThreadRequests

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

/// Messages that were rejected for the same reason.
struct Rejections: Equatable {
  var count = 0
  /// The beginning of the topic of one of them.
  var topic: String?
  /// Names the place and the remedy of one of them, never a payload.
  var reason: String?

  mutating func add(_ more: Rejections) {
    self = Rejections(count: count + more.count, topic: more.topic, reason: more.reason)
  }

  /// - Parameter message: of a home that is not in the shard.
  mutating func noteMisplaced(_ message: IncomingMessage) {
    if count == 0 {
      topic = message.shownTopic
      reason = "no home of this shard has this topic; `threadkeeper fleet homes list` names them"
    }
    count += 1
  }
}

extension CommittedBatch {
  /// By code. Retained messages are counted apart.
  var rejections: [String: Rejections] {
    var all: [String: Rejections] = [:]
    for outcome in outcomes {
      guard let rejection = outcome.rejection, !rejection.isOfRetained else { continue }
      all[rejection.code, default: Rejections()].add(
        Rejections(count: 1, topic: (outcome.origin?.topic).map { String($0.prefix(200)) }, reason: rejection.message))
    }
    let limited = Rejections(count: dropped, reason: "a user publishes more than `limits.events_per_second` allows")
    for (code, rejected) in [(Rejection.Code.rateLimited, limited), (.invalidTopic, misplaced)] where rejected.count > 0
    { all[code.rawValue, default: Rejections()].add(rejected) }
    return all
  }

  var retainedIgnored: Int64 { Int64(outcomes.count { $0.rejection?.isOfRetained ?? false } + misplacedRetained) }
}

extension Rejection { fileprivate var isOfRetained: Bool { code == Code.retained.rawValue } }

/// What was noticed of a few matters, each said once and counted. A pure value.
///
/// | a matter that | is said | and then again |
/// |---|---|---|
/// | comes in floods: `take` | at once, so many lines | after ten seconds, with the count of all that there was meanwhile |
/// | stays as it is: `begins` | at once | when it was over: `end` |
struct Noticed<Matter: Hashable & Sendable>: Sendable {
  private static var milliseconds: Int64 { 10_000 }

  private struct Period {
    var end: Int64 = .min
    var left = 0
    /// What has happened since the last line.
    var count = 0
  }

  private var periods: [Matter: Period] = [:]

  /// - Parameters:
  ///   - wanted: lines that there are.
  ///   - more: what has happened.
  ///   - most: lines in ten seconds.
  /// - Returns: how many lines may be written now, and what has happened since the last ones; 0 without any.
  mutating func take(_ wanted: Int, of matter: Matter, counting more: Int, atMost most: Int = 1, at now: WireTime) -> (
    lines: Int, count: Int
  ) {
    var period = periods[matter] ?? Period()
    defer { periods[matter] = period }
    // A clock that was set back must not silence the log.
    if now.milliseconds >= period.end || period.end - now.milliseconds > Self.milliseconds {
      period.end = now.milliseconds + Self.milliseconds
      period.left = most
    }
    period.count += more
    let lines = min(period.left, wanted, period.count)
    guard lines > 0 else { return (0, 0) }
    period.left -= lines
    defer { period.count = 0 }
    return (lines, period.count)
  }

  var isEmpty: Bool { periods.isEmpty }

  /// - Returns: whether it was not known.
  mutating func begins(_ matter: Matter) -> Bool {
    periods[matter, default: Period()].count += 1
    return periods[matter]?.count == 1
  }

  /// - Returns: how often it was noticed; 0 where it was not known.
  @discardableResult mutating func end(where isOver: (Matter) -> Bool) -> Int {
    let over = periods.filter { isOver($0.key) }
    for matter in over.keys { periods[matter] = nil }
    return over.values.reduce(0) { $0 + $1.count }
  }
}
