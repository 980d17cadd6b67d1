// SPDX-License-Identifier: Apache-2.0

/// Which lines of the history go when it is full.
enum HistoryLimit {
  static let kept = 1_000

  /// Requests that expired go first: a requester that floods the daemon must not push out what people have
  /// decided.
  ///
  /// - Parameter outcomes: oldest first.
  /// - Returns: the places of those that go.
  static func surplus(
    of outcomes: [ConsentRecord.Outcome], kept: Int = HistoryLimit.kept
  ) -> [Int] {
    let excess = outcomes.count - kept
    guard excess > 0 else { return [] }
    let expired = outcomes.indices.filter { outcomes[$0] == .expired }
    let others = outcomes.indices.filter { outcomes[$0] != .expired }
    return Array((expired + others).prefix(excess))
  }
}
