// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks at what waits whenever that has changed, and reports what is new.
struct ConsentFollower {
  /// Decisions among which those are that came since the last look.
  private static let lastDecisions = 100

  /// The last decisions, at most as many.
  let history: @Sendable (Int) async throws -> [ConsentReport.Decision]
  let show: @Sendable (ConsentNews) throws -> Void
  private var watch: ConsentWatch?
  /// Of the history when it was looked at last.
  private var revision: String?

  init(
    history: @escaping @Sendable (Int) async throws -> [ConsentReport.Decision],
    show: @escaping @Sendable (ConsentNews) throws -> Void
  ) {
    self.history = history
    self.show = show
  }

  /// What was decided before is not reported. To be called before the first look; it does nothing later.
  mutating func begin() async throws {
    guard watch == nil else { return }
    let start = Date()
    watch = ConsentWatch(history: try await history(Self.lastDecisions), start: start)
  }

  /// - Throws: what `history` and `show` throw. What was reported is not reported again.
  mutating func look(at now: ConsentReport.List) async throws {
    guard var watch = self.watch else { return }
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
}
