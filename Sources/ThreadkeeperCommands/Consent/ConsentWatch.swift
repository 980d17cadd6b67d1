// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is new about the questions that wait, from one look to the next.
struct ConsentWatch {
  /// Seconds after its time in which the end of a question that nobody has decided is not written down:
  /// then no keeper has been there to do it.
  private static let grace: TimeInterval = 5

  /// In the order in which they came.
  private var waiting: [ConsentReport.Pending] = []
  /// What waits no more, and of which nothing else is known yet.
  private var gone: [ConsentReport.Pending] = []

  /// Whether the history has to be looked at.
  var needsHistory: Bool { !gone.isEmpty }

  /// - Parameter pending: all that wait now.
  /// - Returns: those that are new.
  mutating func look(at pending: [ConsentReport.Pending]) -> [ConsentReport.Pending] {
    let old = Set(waiting.map(\.id))
    let now = Set(pending.map(\.id))
    gone += waiting.filter { !now.contains($0.id) }
    waiting = pending
    return pending.filter { !old.contains($0.id) }
  }

  /// - Parameter history: the last decisions.
  /// - Returns: what has become of those that wait no more, where that is known by now.
  mutating func ends(in history: [ConsentReport.Decision], now: Date) -> [ConsentReport.Decision] {
    var ends: [ConsentReport.Decision] = []
    var unknown: [ConsentReport.Pending] = []
    for question in gone {
      if let end = history.first(where: { $0.id == question.id }) {
        ends.append(end)
      } else if let over = try? Date(question.expiresAt, strategy: .iso8601),
        now > over + Self.grace
      {
        ends.append(.init(expired: question))
      } else {
        unknown.append(question)
      }
    }
    gone = unknown
    return ends
  }
}

extension ConsentReport.Decision {
  fileprivate init(expired question: ConsentReport.Pending) {
    self.init(
      request: question.request,
      more: .init(
        outcome: "expired", decidedAt: question.expiresAt, decidedBy: nil, scope: nil, grant: nil,
        given: nil))
  }
}
