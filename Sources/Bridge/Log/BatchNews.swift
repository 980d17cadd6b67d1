import Broker
import Home
import Logging
import ThreadDataset

/// What a person who reads the log wants to know of a batch: who came and went, which alerts rose and
/// fell. A fleet that starts all at once fills no disk with it.
package struct BatchNews: Sendable {
  private struct Line: Sendable {
    let level: Logger.Level
    let text: Logger.Message
    let metadata: Logger.Metadata
    /// The same for people who do not read logs.
    let sentence: String
    /// Of an alert that has ended: when it began.
    let since: WireTime?
    /// The border router that an alert is about.
    let router: BorderAgentID?
    let matter: Matter
  }

  /// What a line is about: each has lines of its own.
  enum Matter: Int, CaseIterable, Sendable {
    case routers
    /// A flood of announcements must not keep what is wrong out of the log.
    case alerts
    /// Somebody who makes many routers must not keep a question from the person who has to decide.
    case consent

    /// For each matter at most so many; `taken` and `more` have a place for each.
    var lines: Int {
      switch self {
      case .routers, .alerts: 10
      // As many as may wait at a time.
      case .consent: 100
      }
    }
  }

  private var kept: [Line] = []
  /// Of each matter. A batch can have thousands of lines.
  private var taken = InlineArray<3, Int>(repeating: 0)
  private var more = InlineArray<3, Int>(repeating: 0)

  /// Counts a line.
  ///
  /// - Returns: whether it is to be made: a batch can have thousands.
  mutating func hasRoom(_ matter: Matter) -> Bool {
    if taken[matter.rawValue] < matter.lines {
      taken[matter.rawValue] += 1
      return true
    }
    more[matter.rawValue] += 1
    return false
  }

  /// A line that there is room for.
  mutating func append(
    _ level: Logger.Level, _ text: Logger.Message, _ metadata: Logger.Metadata, of matter: Matter = .routers,
    as sentence: String? = nil, since: WireTime? = nil, about router: BorderAgentID? = nil
  ) {
    kept.append(
      Line(
        level: level, text: text, metadata: metadata, sentence: sentence ?? "\(text)".capitalizedFirst, since: since,
        router: router, matter: matter))
  }

  /// The same lines for people who look at what happened last.
  func events(at now: WireTime) -> [RecentEvents.Event] {
    kept.suffix(RecentEvents.kept).map {
      .init(at: now, severity: $0.level.rawValue, text: $0.sentence, since: $0.since, router: $0.router)
    }
  }

  /// - Parameter pace: bounds the lines by time, however many batches there are.
  func log(to logger: Logger, _ pace: inout Noticed<Matter>, at now: WireTime) {
    var left: [Matter: Int] = [:]
    var skipped = 0
    for matter in Matter.allCases {
      let more = more[matter.rawValue]
      let count = kept.count { $0.matter == matter }
      let (lines, all) = pace.take(count, of: matter, counting: count + more, atMost: matter.lines, at: now)
      left[matter] = lines
      skipped += all - lines
    }
    for line in kept where line.level >= .error || left[line.matter, default: 0] > 0 {
      left[line.matter, default: 0] -= 1
      logger.log(level: line.level, line.text, metadata: line.metadata)
    }
    if skipped > 0 { logger.info("and more like this", metadata: ["count": "\(skipped)"]) }
  }

  /// The same without a bound in time.
  func log(to logger: Logger) {
    var pace = Noticed<Matter>()
    log(to: logger, &pace, at: WireTime(milliseconds: 0))
  }
}
