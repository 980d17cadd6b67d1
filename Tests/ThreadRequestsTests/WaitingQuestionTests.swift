// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import ThreadRequests

@Suite("What is said at the terminal of who waits for consent")
struct WaitingQuestionTests {
  @Test("It names the command that approves it, and how long it waits, where that can be read")
  func words() throws {
    var question = WaitingQuestion(
      id: "c-1", command: "preferred/get", extendedPANID: nil, expiresAt: "2026-11-21T04:38:00Z",
      transactions: ["t"], reason: nil)
    let now = try Date("2026-11-21T04:36:00Z", strategy: .iso8601) + 0.5
    #expect(
      question.words(now: now)
        == "Waiting for consent, up to 120 s: `threadkeeper consent approve c-1`, "
        + "by the daemon's user on its machine.")
    #expect(question.words(now: now + 500).hasPrefix("Waiting for consent, up to 0 s: "))
    question.expiresAt = "soon"
    #expect(question.words(now: now).hasPrefix("Waiting for consent: `"))
  }

  @Test("A question is that of a request whose transaction it has, byte for byte")
  func transactions() {
    var question = WaitingQuestion(
      id: "c-1", command: "preferred/get", extendedPANID: nil, expiresAt: "", transactions: nil,
      reason: nil)
    #expect(!question.isAwaited(by: ""))
    question.transactions = ["a", "\u{E9}"]
    #expect(question.isAwaited(by: "a") && question.isAwaited(by: "\u{E9}"))
    #expect(!question.isAwaited(by: "e\u{301}") && !question.isAwaited(by: "b"))
  }
}
