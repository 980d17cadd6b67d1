// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What opens the store is asked for at the terminal, and that is broken off.
@Suite("A passphrase that is not given", .inTurns, .timeLimit(.minutes(30)))
struct StoreQuestionTests {
  /// By a key, or by a signal from outside.
  enum End: Sendable, CaseIterable {
    case key, signal
  }

  private let installation: Installation
  private let backup: String

  /// Only its passphrase opens the store.
  init() async throws {
    installation = try Installation(port: nil)
    backup = installation.directory.file("store.tkbackup")
    let file = try installation.passphraseFile("correct horse battery")
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--passphrase-file", file).status == 0)
    try await installation.serving { () async throws in
      #expect(try await installation.command("store", "backup", backup).status == 0)
    }
  }

  private func moveKeyFile(back: Bool = false) throws {
    let here = installation.directory.file("store.key")
    let away = here + ".away"
    try FileManager.default.moveItem(
      atPath: back ? away : here, toPath: back ? here : away)
  }

  private func expectStopped(
    _ arguments: [String], by end: End, saying words: String,
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let session = try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    switch end {
    case .key: session.type("\u{3}")
    case .signal: try session.signal(SIGTERM)
    }
    let status = try await session.end()
    #expect(
      status == 130 && session.isEchoing && session.screen.contains("Stopped. \(words)"),
      "\(arguments): \(status), \(session.screen)", sourceLocation: location)
  }

  @Test("keys remove: nothing is removed", arguments: End.allCases)
  func remove(by end: End) async throws {
    try moveKeyFile()
    try await expectStopped(
      ["keys", "remove", "1", "--yes"], by: end, saying: "Nothing was changed.")
    try moveKeyFile(back: true)
    #expect(try await installation.json("keys", "list")["slots"]?.list.count == 2)
  }

  @Test("keys remove: with the answer it is removed")
  func removed() async throws {
    try moveKeyFile()
    let session = try TerminalSession(
      ["keys", "remove", "1", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type("correct horse battery\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.isEchoing && session.screen.contains("Key slot 1 is removed."))
  }

  @Test("every other command that opens the store: nothing is changed", arguments: End.allCases)
  func others(by end: End) async throws {
    try moveKeyFile()
    for arguments in [
      ["store", "restore", "--in-place"], ["store", "restore", "--yes", backup],
      ["keys", "list"],
    ] {
      try await expectStopped(arguments, by: end, saying: "Nothing was changed.")
    }
  }
}
