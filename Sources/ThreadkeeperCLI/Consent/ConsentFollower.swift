// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks again and again at what waits, and tells what is new.
struct ConsentFollower {
  /// Decisions among which those are that came since the last look.
  private static let lastDecisions = 100

  let list: @Sendable () async throws -> ConsentReport.List
  /// The last decisions, at most as many.
  let history: @Sendable (Int) async throws -> [ConsentReport.Decision]
  let show: @Sendable (ConsentNews) throws -> Void
  private var watch: ConsentWatch?
  /// Of the history when it was looked at last.
  private var revision: String?

  init(
    list: @escaping @Sendable () async throws -> ConsentReport.List,
    history: @escaping @Sendable (Int) async throws -> [ConsentReport.Decision],
    show: @escaping @Sendable (ConsentNews) throws -> Void
  ) {
    self.list = list
    self.history = history
    self.show = show
  }

  /// - Throws: what `list`, `history` and `show` throw. What was told is not told again.
  mutating func look() async throws {
    if self.watch == nil { self.watch = try await beginning() }
    guard var watch = self.watch else { return }
    let now = try await list()
    let asked = watch.look(at: now.pending)
    // What is remembered is told before anything can fail.
    self.watch = watch
    for one in asked { try show(one) }
    // Also when nothing has gone: a question may have come and be over since the last look.
    let isKnown = now.revision != nil && now.revision == revision
    let ends = watch.ends(in: isKnown ? [] : try await history(Self.lastDecisions), now: Date())
    self.watch = watch
    // What was decided between the two is told the next time: the revision is another one then.
    revision = now.revision
    for one in ends { try show(one) }
  }

  private func beginning() async throws -> ConsentWatch {
    let start = Date()
    return ConsentWatch(history: try await history(Self.lastDecisions), start: start)
  }
}
