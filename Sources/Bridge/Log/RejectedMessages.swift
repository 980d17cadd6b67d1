import Broker
import Home
import ThreadRequests

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
