// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite("Questions of an export and an import", .inTurns, .timeLimit(.minutes(30)))
struct ExportQuestionTests {
  /// Where no daemon runs, and the question is not for the export's passphrase.
  enum Question: CaseIterable {
    /// What opens the store.
    case store
    /// What unlocks it.
    case unlock
  }

  /// How the question is ended.
  enum Ending: CaseIterable {
    case key, signal
  }

  @Test(
    "A signal at a question for the store ends the command without an answer, and the terminal is as it was",
    arguments: Question.allCases, Ending.allCases)
  func brokenOff(_ question: Question, _ ending: Ending) async throws {
    let installation = try Installation(port: nil)
    let keyFile = installation.directory.file("store.key")
    #expect(try await installation.command("init").status == 0)
    try addLockedItem(installation)
    let opening = try installation.passphraseFile("the passphrase of the store")
    #expect(try await installation.command("keys", "add", "--passphrase-file", opening).status == 0)
    let environment = ["THREADKEEPER_STORE_PASSPHRASE_FILE": opening]
    let (file, secret) = (installation.directory.file("export"), try installation.passphraseFile())
    let made = try await installation.command(
      "store", "export", "--passphrase-file", secret, file, environment: environment)
    #expect(made.status == 0, "\(made.error)")
    if question == .store {
      try FileManager.default.moveItem(atPath: keyFile, toPath: keyFile + ".away")
    }
    for arguments in [["store", "export", file + "-2"], ["store", "import", file]] {
      let session = try TerminalSession(
        arguments + ["--passphrase-file", secret, "--config", installation.configuration],
        environment: installation.environment)
      try await session.until("Passphrase or recovery code of the store: ")
      try await session.untilHidden()
      switch ending {
      case .key: session.type("\u{3}")
      case .signal: try session.signal(SIGTERM)
      }
      #expect(try await session.end() == 130, "\(session.screen)")
      let nothing = arguments.contains("export") ? "written" : "stored"
      #expect(session.screen.contains("Stopped. Nothing was \(nothing)."), "\(session.screen)")
      #expect(session.isEchoing)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains(".new-") || $0 == "export-2" }, "\(left)")
    let audit = try await installation.command("audit", "--json", environment: environment)
    #expect(audit.status == 0 && !audit.output.contains("\"imported\""))
  }

  @Test("Without a daemon the store is unlocked at the terminal, for an export and an import")
  func unlocked() async throws {
    let installation = try Installation(port: nil)
    #expect(try await installation.command("init").status == 0)
    try addLockedItem(installation)
    let opening = try installation.passphraseFile("the passphrase of the store")
    #expect(try await installation.command("keys", "add", "--passphrase-file", opening).status == 0)
    let file = installation.directory.file("export")
    for (command, questions) in [
      ("export", ["Passphrase for the export: ", "The same again: "]),
      ("import", ["Passphrase of the export: "]),
    ] {
      let session = try TerminalSession(
        ["store", command, file, "--config", installation.configuration],
        environment: installation.environment)
      for question in questions {
        try await session.until(question)
        try await session.untilHidden()
        session.type(Installation.exportPassphrase + "\n")
      }
      try await session.until("Passphrase or recovery code of the store: ")
      try await session.untilHidden()
      session.type("the passphrase of the store\n")
      #expect(try await session.end() == 0, "\(session.screen)")
      #expect(!session.screen.contains("passphrase of the store\n"))
    }
  }

  @Test("A signal after the passphrase ends the command, also where the daemon says nothing")
  func silentDaemon() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let (file, secret) = (installation.directory.file("export"), try installation.passphraseFile())
    let daemon = try await installation.start()
    let made = try await installation.command("store", "export", "--passphrase-file", secret, file)
    #expect(made.status == 0, "\(made.error)")
    // It takes calls, as the kernel does it, and has no time for them.
    try await daemon.suspend()
    let socket = installation.storePath + "/varlink.sock"
    defer { daemon.signal(SIGCONT) }
    for (arguments, questions) in [
      (["export", file + "-2"], ["Passphrase for the export: ", "The same again: "]),
      (["import", file], ["Passphrase of the export: "]),
    ] {
      let session = try TerminalSession(
        ["store"] + arguments + ["--config", installation.configuration],
        environment: installation.environment)
      let before = try WaitingCalls.count(at: socket)
      for question in questions {
        try await session.until(question)
        try await session.untilHidden()
        session.type(Installation.exportPassphrase + "\n")
      }
      try await eventually("the command to call the daemon") {
        try WaitingCalls.count(at: socket) > before
      }
      #expect(session.isEchoing)
      try session.signal(SIGTERM)
      #expect(try await session.end() == 130, "\(session.screen)")
      let nothing = arguments.contains("export") ? "written" : "stored"
      #expect(session.screen.contains("Stopped. Nothing was \(nothing)."), "\(session.screen)")
    }
    daemon.signal(SIGCONT)
    #expect(try await daemon.stop() == .exit(0))
    let left = try FileManager.default.contentsOfDirectory(atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains(".new-") || $0 == "export-2" }, "\(left)")
  }

  private func addLockedItem(_ installation: Installation) throws {
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")))
    defer { keychain.close() }
    try keychain.database.write { tx in
      _ = try keychain.add(
        NewItem(
          .genericPassword, attributes: [.account: .string("user"), .accessGroup: .string("own")],
          secret: SecretBytes(copying: Array("secret".utf8)), accessible: .whenUnlocked), in: tx)
    }
  }
}
