// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The guide's commands for keys", .inTurns, .timeLimit(.minutes(30)))
struct KeysBlockTests {
  private static let questions = [
    "New passphrase of the store: ", "The same again: ",
    "Passphrase or recovery code of the store: ",
  ]

  private let installation: Installation

  init() throws { installation = try Installation(port: nil) }

  /// Runs a command at a terminal, and answers each of its questions with the same passphrase.
  private func play(_ arguments: [String]) async throws -> Int32 {
    let session = try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment)
    var answered = 0
    try await eventually(within: .seconds(120)) {
      let asked = Self.questions.map {
        session.screen.components(separatedBy: $0).count - 1
      }.reduce(0, +)
      if asked > answered, !session.isEchoing {
        session.type("correct horse battery\n")
        answered += 1
      }
      return !session.isRunning
    }
    return try await session.end()
  }

  @Test("Each works, one after the other, in the order in which they stand there")
  func block() async throws {
    let block = try Handbook("docs/guides/keys.md")
      .block(below: "Add and remove key slots", with: "threadkeeper keys list")
    let commands = block.split(separator: "\n").map { line in
      line.prefix { $0 != "#" }.split(separator: " ").dropFirst().map {
        $0.replacingOccurrences(of: "/media/stick", with: installation.directory.path + "/stick")
      }
    }
    try #require(commands.count == 5)
    try FileManager.default.createDirectory(
      atPath: installation.directory.file("stick"), withIntermediateDirectories: false)
    try installation.makeStore()
    for command in commands {
      #expect(try await play(command) == 0, "\(command)")
    }
    // What was written down still opens the store, and the stick does not.
    let slots = try await installation.json("keys", "list")["slots"]?.list
    #expect(slots?.map { $0["kind"]?.text } == ["key_file", "passphrase", "recovery_code"])
    #expect(slots?.allSatisfy { $0["label"]?.text != "stick" } == true)
  }
}
