// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What `keys rotate` is given, and what it asks for.
@Suite("What keys rotate is given", .inTurns, .timeLimit(.minutes(30)))
struct RotationQuestionTests {
  private let installation: Installation
  private let good: String
  private let other: String
  private let mistyped: String

  init() async throws {
    installation = try Installation(port: nil)
    good = try installation.passphraseFile("correct horse battery")
    other = try installation.passphraseFile("another way in")
    mistyped = try installation.passphraseFile("corect horse battery")
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--passphrase-file", good).status == 0)
  }

  private func slots() async throws -> [Int64?] {
    try await installation.json("keys", "list")["slots"]?.list.map { $0["id"]?.number } ?? []
  }

  private func rotate(
    _ files: String..., environment: [String: String] = [:]
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      ["keys", "rotate", "--yes", "--config", installation.configuration]
        + files.flatMap { ["--passphrase-file", $0] },
      environment: installation.environment.merging(environment) { $1 })
  }

  @Test("what was given to stay and opens nothing stops it, whatever --yes says")
  func mistypedSecret() async throws {
    #expect(
      try await installation.command(
        "keys", "add", "--passphrase-file", other,
        environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": good]
      ).status == 0)
    let before = try await slots()
    #expect(before == [1, 2, 3])
    let second = try await rotate(good, mistyped)
    #expect(second.status == 77 && second.error.contains("number 2"), "\(second.error)")
    let only = try await rotate(mistyped)
    #expect(only.status == 77 && only.error.contains("mistyped"), "\(only.error)")
    #expect(try await slots() == before)
    // And what goes is named.
    let done = try await rotate(good)
    #expect(done.status == 0, "\(done.error)")
    #expect(done.output.contains("Key slot 3 (passphrase) is removed"), "\(done.output)")
    #expect(try await slots().count == 2)
  }

  @Test("the key file of the settings is not lost because it cannot be read, or is another's")
  func unreadableKeyFile() async throws {
    let keyFile = installation.directory.file("store.key")
    let environment = ["THREADKEEPER_STORE_PASSPHRASE_FILE": good]
    let before = try await slots()
    chmod(keyFile, 0o644)
    let open = try await rotate(environment: environment)
    #expect(open.status == 77 && open.error.contains("chmod 400"), "\(open.error)")
    chmod(keyFile, 0o400)
    let right = try Data(contentsOf: URL(fileURLWithPath: keyFile))
    try FileManager.default.removeItem(atPath: keyFile)
    try Data((String(repeating: "ab", count: 32) + "\n").utf8).write(
      to: URL(fileURLWithPath: keyFile))
    chmod(keyFile, 0o400)
    let another = try await rotate(environment: environment)
    #expect(another.status == 77 && another.error.contains("opens no key slot"), "\(another.error)")
    try FileManager.default.removeItem(atPath: keyFile)
    try right.write(to: URL(fileURLWithPath: keyFile))
    chmod(keyFile, 0o400)
    #expect(try await slots() == before)
    let done = try await rotate(environment: environment)
    #expect(done.status == 0 && !done.output.contains("is removed"), "\(done.output)\(done.error)")
  }

  /// At the question for what stays, and at the one for what opens the store.
  @Test("Ctrl-C at the passphrase: nothing is changed", arguments: [false, true])
  func brokenOff(hasNoKeyFile: Bool) async throws {
    let keyFile = installation.directory.file("store.key")
    if hasNoKeyFile { try FileManager.default.moveItem(atPath: keyFile, toPath: keyFile + ".away") }
    let session = try TerminalSession(
      ["keys", "rotate", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type("\u{3}")
    #expect(try await session.end() == 130)
    #expect(session.isEchoing && session.screen.contains("Stopped. Nothing was changed."))
    if hasNoKeyFile { try FileManager.default.moveItem(atPath: keyFile + ".away", toPath: keyFile) }
    let audit = try installation.audit()
    #expect(audit.contains { $0.hasSuffix("key_slot_added") })
    #expect(!audit.contains { $0.hasSuffix("keys_rotated") }, "\(audit)")
  }
}
