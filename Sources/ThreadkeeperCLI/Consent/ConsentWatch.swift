// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is new about the questions that wait, from one look to the next.
struct ConsentWatch {
  /// Seconds after its time in which the end of a question that nobody has decided is not written down:
  /// then no daemon has been there to do it.
  private static let grace: TimeInterval = 5
  /// Ids of decisions that are remembered before the oldest ones are forgotten.
  private static let most = 5_000

  /// In the order in which they came.
  private var waiting: [ConsentReport.Pending] = []
  /// What waits no more, and of which nothing else is known yet.
  private var gone: [ConsentReport.Pending] = []
  /// Decisions of before, and those that are told.
  private var past: Set<String>
  /// What was decided earlier is of before, too, whether or not it was among those.
  private var start: Date

  /// - Parameters:
  ///   - history: the last decisions, from before the first look.
  ///   - start: when they were asked for, or earlier.
  init(history: [ConsentReport.Decision], start: Date) {
    past = Set(history.map(\.id))
    // As decisions have it: in whole seconds.
    self.start = Date(timeIntervalSince1970: start.timeIntervalSince1970.rounded(.down))
  }

  /// - Parameter pending: all that wait now.
  /// - Returns: those that are new.
  mutating func look(at pending: [ConsentReport.Pending]) -> [ConsentNews] {
    let old = Set(waiting.map(\.id))
    let now = Set(pending.map(\.id))
    gone += waiting.filter { !now.contains($0.id) }
    waiting = pending
    return pending.filter { !old.contains($0.id) }.map { .asked($0.request, $0.more) }
  }

  /// - Parameter history: the last decisions, newest first, as they are after the look at what waits; none
  ///   where they are those of the last time.
  /// - Returns: what has become of those that wait no more, where that is known by now, and what came and
  ///   was decided between two looks.
  mutating func ends(in history: [ConsentReport.Decision], now: Date) -> [ConsentNews] {
    var news: [ConsentNews] = []
    // What is decided since the look is still among those that wait, and is told the next time.
    let open = Set(waiting.map(\.id))
    for end in history.reversed() where isNew(end) && !open.contains(end.id) {
      past.insert(end.id)
      if let place = gone.firstIndex(where: { $0.id == end.id }) {
        gone.remove(at: place)
      } else {
        news.append(.asked(end.request, nil))
      }
      news.append(.ended(end))
    }
    for question in gone {
      guard let over = try? Date(question.expiresAt, strategy: .iso8601), now > over + Self.grace
      else { continue }
      past.insert(question.id)
      gone.removeAll { $0.id == question.id }
      news.append(.ended(.init(expired: question)))
    }
    forget(before: history)
    return news
  }

  private func isNew(_ end: ConsentReport.Decision) -> Bool {
    // A grant that is taken back is no end of a question.
    guard end.outcome != "revoked", !past.contains(end.id) else { return false }
    // Those that were seen are known by their ids, whatever the clock has done meanwhile.
    if gone.contains(where: { $0.id == end.id }) { return true }
    guard let decided = try? Date(end.decidedAt, strategy: .iso8601) else { return false }
    return decided >= start
  }

  private mutating func forget(before history: [ConsentReport.Decision]) {
    guard past.count > Self.most, let oldest = history.last,
      let decided = try? Date(oldest.decidedAt, strategy: .iso8601)
    else { return }
    past.formIntersection(history.map(\.id))
    start = max(start, decided)
  }
}
