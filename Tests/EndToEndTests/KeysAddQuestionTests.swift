// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A passphrase that is added at a terminal, in a store that has one already: three questions.
@Suite("What keys add asks for", .inTurns, .timeLimit(.minutes(30)))
struct KeysAddQuestionTests {
  private static let questions = [
    "New passphrase of the store: ", "The same again: ",
    "Passphrase or recovery code of the store: ",
  ]
  private static let answers = ["another way in", "another way in", "correct horse battery"]

  private let installation: Installation

  init() async throws {
    installation = try Installation(port: nil)
    let first = try installation.passphraseFile(Self.answers[2])
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--passphrase-file", first).status == 0)
  }

  private func slots() async throws -> [Int64?] {
    try await installation.json("keys", "list")["slots"]?.list.map { $0["id"]?.number } ?? []
  }

  /// Answers the first questions, and waits at the next one.
  private func session(answering count: Int) async throws -> TerminalSession {
    let session = try TerminalSession(
      ["keys", "add", "--passphrase", "--config", installation.configuration],
      environment: installation.environment)
    for number in 0..<min(count + 1, Self.questions.count) {
      try await session.until(Self.questions[number])
      try await session.untilHidden()
      if number < count { session.type(Self.answers[number] + "\n") }
    }
    return session
  }

  @Test("Ctrl-C at each of them ends it at once, and nothing is added", arguments: 0..<3)
  func brokenOff(question: Int) async throws {
    let session = try await session(answering: question)
    session.type("\u{3}")
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.isEchoing && session.screen.contains("Stopped. Nothing was changed."))
    #expect(try await slots() == [1, 2])
  }

  @Test("SIGTERM at each of them, too", arguments: 0..<3)
  func ended(question: Int) async throws {
    let session = try await session(answering: question)
    try session.signal(SIGTERM)
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.isEchoing)
    #expect(try await slots() == [1, 2])
  }
}
