// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

/// Messages that were rejected for the same reason.
struct Rejections: Equatable {
  /// One of many.
  struct Example: Equatable {
    /// Its beginning.
    let topic: String?
    /// Names the place and the remedy, never a payload.
    let reason: String
  }

  var count: Int64 = 0
  var example: Example?

  /// - Parameter message: of a home that is not in the shard.
  mutating func noteMisplaced(_ message: IncomingMessage) {
    if count == 0 {
      example = Example(
        topic: message.shownTopic,
        reason: "no home of this shard has this topic; `threadkeeper fleet homes list` names them")
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
      all[rejection.code, default: Rejections()].count += 1
      all[rejection.code]?.example = .init(
        topic: (outcome.origin?.topic).map { String($0.prefix(200)) }, reason: rejection.message)
    }
    if dropped > 0 {
      let code = Rejection.Code.rateLimited.rawValue
      all[code, default: Rejections()].count += Int64(dropped)
      all[code]?.example = .init(
        topic: nil, reason: "a user publishes more than `limits.events_per_second` allows")
    }
    if misplaced.count > 0 {
      let code = Rejection.Code.invalidTopic.rawValue
      all[code, default: Rejections()].count += misplaced.count
      all[code]?.example = misplaced.example
    }
    return all
  }

  var retainedIgnored: Int64 {
    Int64(outcomes.count { $0.rejection?.isOfRetained ?? false } + misplacedRetained)
  }
}

extension Rejection {
  fileprivate var isOfRetained: Bool { code == Code.retained.rawValue }
}

/// One line of the log for each reason in ten seconds, however many messages are rejected: a flood of messages must not
/// flood the log too. Every single one is on `bridge/event`.
struct RejectionLines {
  private static let interval = 10

  private struct Reason {
    var rejected = Rejections()
    var nextLine = WireTime(milliseconds: 0)
  }

  private var reasons: [String: Reason] = [:]

  /// - Parameter more: what was rejected since, by code.
  /// - Returns: the lines to be written now.
  mutating func take(
    _ more: [String: Rejections], at now: WireTime
  ) -> [(code: String, rejected: Rejections)] {
    for (code, new) in more {
      reasons[code, default: Reason()].rejected.count += new.count
      if let example = new.example { reasons[code]?.rejected.example = example }
    }
    return reasons.keys.sorted().compactMap { code in
      guard let reason = reasons[code], reason.rejected.count > 0, reason.nextLine <= now else {
        return nil
      }
      reasons[code] = Reason(nextLine: now.adding(seconds: Self.interval))
      return (code, reason.rejected)
    }
  }

  /// What waits for a time by another clock waits no more.
  mutating func clockJumped() {
    for code in reasons.keys { reasons[code]?.nextLine = WireTime(milliseconds: 0) }
  }
}
