// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// What shared credentials mean for the preferred network, without a home around it.
@Suite struct SharedDecisionTests {
  private static let now = WireTime(milliseconds: 1_000_000)
  private static let year: UInt64 = 365 * 86_400
  private static let named = DatasetSummary(network: .number(1), name: "net-1")
  private static let preferred = DatasetSummary.of(1, at: 5)
  private static let moved = DatasetSummary.of(1, at: 6, channel: 20)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: SharedDecision
    var preferred: DatasetSummary? = SharedDecisionTests.preferred
    var dataset = SharedDecisionTests.moved
    var follows = false
    var isPreferredThere = false
    var needsChoice = false
    var isTrusted = false

    init(
      _ description: String, _ expected: SharedDecision, _ change: (inout Row) -> Void = { _ in }
    ) {
      testDescription = description
      self.expected = expected
      change(&self)
    }
  }

  @Test(
    "What follows from shared credentials",
    arguments: [
      Row("the first network, preferred there", .becomes(.first)) {
        ($0.preferred, $0.isPreferredThere) = (nil, true)
      },
      Row("the first network, not preferred there", .nothing) { $0.preferred = nil },
      Row("none is preferred, and a person has to choose", .nothing) {
        ($0.preferred, $0.isPreferredThere, $0.needsChoice) = (nil, true, true)
      },
      Row("another network, preferred there", .otherPreferred) {
        ($0.dataset, $0.isPreferredThere) = (.of(2), true)
      },
      Row("another network, preferred there, and ours by its id alone", .otherPreferred) {
        ($0.preferred, $0.dataset, $0.isPreferredThere, $0.isTrusted) = (named, .of(2), true, true)
      },
      Row("another network, not preferred there", .nothing) { $0.dataset = .of(2) },
      Row("preferred by its id alone, of a trusted user", .becomes(.shared)) {
        ($0.preferred, $0.isTrusted) = (named, true)
      },
      Row("preferred by its id alone, of any other user", .asks) { $0.preferred = named },
      Row("preferred by its id alone, too far ahead", .conflict([])) {
        ($0.preferred, $0.dataset) = (named, .of(1, at: 1_001 + year))
      },
      Row("preferred by its id alone, too far ahead, of a trusted user", .conflict([])) {
        ($0.preferred, $0.dataset, $0.isTrusted) = (named, .of(1, at: 1_001 + year), true)
      },
      Row("the same", .nothing) { ($0.dataset, $0.isPreferredThere) = (preferred, true) },
      Row("the same parameters, later", .nothing) { $0.dataset = .of(1, at: 9) },
      Row("the same parameters, earlier", .nothing) { $0.dataset = .of(1, at: 1) },
      Row("older", .older(.channel)) { $0.dataset = .of(1, at: 4, channel: 20) },
      Row("older, with other keys", .older([.networkKey, .pskc])) {
        ($0.dataset, $0.isTrusted) = (.of(1, key: 2, at: 4), true)
      },
      Row("of the same age", .conflict(.channel)) { $0.dataset = .of(1, at: 5, channel: 20) },
      Row("too far ahead", .conflict(.channel)) {
        ($0.dataset, $0.follows) = (.of(1, at: 1_001 + year, channel: 20), true)
      },
      Row("too far ahead, with other keys", .conflict([.networkKey, .pskc])) {
        $0.dataset = .of(1, key: 2, at: 1_001 + year)
      },
      Row("a year ahead", .becomes(.sameKeys)) {
        ($0.dataset, $0.follows) = (.of(1, at: 1_000 + year, channel: 20), true)
      },
      Row("newer, and it was the preferred one before", .becomes(.sameKeys)) { $0.follows = true },
      Row("newer, and it was not", .asks),
      Row("newer, of a trusted user, and it was not", .asks) { $0.isTrusted = true },
      Row("newer, with other keys", .asks) {
        ($0.dataset, $0.follows, $0.isTrusted) = (.of(1, key: 2, at: 6), true, true)
      },
    ])
  func decision(_ row: Row) {
    let shared = SharedCredentials(
      user: "ha", dataset: row.dataset, isPreferredThere: row.isPreferredThere,
      createdAt: Self.now, changedAt: Self.now, follows: row.follows)
    let decision = SharedDecision(
      shared, preferred: row.preferred, needsChoice: row.needsChoice, isTrusted: row.isTrusted,
      at: Self.now)
    #expect(decision == row.expected)
  }
}
