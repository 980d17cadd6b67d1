// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite("The keys of a store, and its lock", .inTurns, .timeLimit(.minutes(30)))
struct KeysTests {
  private static let passphrase = "correct horse battery"

  /// Files with a passphrase that is right and one that is not.
  private func passphrases(_ installation: Installation) throws -> (right: String, wrong: String) {
    (
      try installation.passphraseFile(Self.passphrase),
      try installation.passphraseFile("another passphrase")
    )
  }

  private func expectSecret(
    _ outcome: ThreadkeeperBinary.Outcome, _ location: SourceLocation = #_sourceLocation
  ) {
    for text in [outcome.output, outcome.error] {
      #expect(!text.contains(Self.passphrase), sourceLocation: location)
    }
  }

  @Test("without a daemon, slots come and go, and every refusal has words and a status")
  func slots() async throws {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    let (right, wrong) = try passphrases(installation)
    let last = try await installation.command("keys", "remove", "1")
    #expect(last.status == 64 && last.error.contains("the only key slot"))
    let missing = try await installation.command("keys", "remove", "9")
    #expect(missing.status == 66 && missing.error.contains("no key slot 9"))
    #expect(try await installation.command("keys", "add").status == 64)

    let spare = installation.directory.file("spare.key")
    let added = try await installation.json(
      "keys", "add", "--key-file", spare, "--label", "in the safe")
    #expect(added["slot"]?["id"] == 2)
    #expect(added["key_file_made"]?.text == spare)
    let passphrase = try await installation.command("keys", "add", "--passphrase-file", right)
    #expect(passphrase.status == 0)
    expectSecret(passphrase)
    let opened = ["THREADKEEPER_STORE_PASSPHRASE_FILE": right]
    // With the key file it is open, but the code has to reach what the passphrase guards.
    let locked = try await installation.command("keys", "add", "--recovery-code")
    #expect(locked.status == 77 && locked.error.contains("locked"))
    let made = try await installation.command(
      "keys", "add", "--recovery-code", "--json", environment: opened)
    let code = try #require(JSON(made.output)?["recovery_code"]?.text)
    let list = try await installation.json("keys", "list")["slots"]?.list
    #expect(
      list?.compactMap { $0["kind"]?.text }
        == ["key_file", "key_file", "passphrase", "recovery_code"])
    #expect(
      list?.compactMap { $0["opens"]?.text } == ["yes", "no", "not_tried", "not_tried"])
    #expect(list?.compactMap { $0["label"]?.text }.contains("in the safe") == true)

    let own = try await installation.command("keys", "remove", "1")
    #expect(
      own.status == 64 && own.error.contains("the daemon opens the store with this key slot"),
      "\(own.error)")

    // Each way opens the store without the key file; each wrong one is answered.
    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    let closed = try await installation.command("keys", "list")
    #expect(closed.status == 77 && closed.error.contains("there is no key file"))
    #expect(closed.error.contains("THREADKEEPER_STORE_PASSPHRASE_FILE"))
    #expect(try await installation.command("keys", "list", environment: opened).status == 0)
    let typed = code.lowercased().filter { $0 != "-" }
    #expect(
      try await installation.command(
        "keys", "list", environment: ["THREADKEEPER_STORE_PASSPHRASE": typed]
      )
      .status == 0)
    let refused = try await installation.command(
      "keys", "list", environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": wrong])
    #expect(refused.status == 77 && refused.error.contains("this passphrase: it is mistyped"))
    #expect(!refused.error.contains("THREADKEEPER_STORE_PASSPHRASE_FILE"))
    var mistyped = code
    mistyped.replaceSubrange(...mistyped.startIndex, with: code.hasPrefix("7") ? "8" : "7")
    let wrongCode = try await installation.command(
      "keys", "list", environment: ["THREADKEEPER_STORE_PASSPHRASE": mistyped])
    #expect(wrongCode.status == 77 && wrongCode.error.contains("group 1 is mistyped"))

    // The last passphrase, and what goes with it.
    let kept = try await installation.command("keys", "remove", "3", environment: opened)
    #expect(kept.status == 64 && kept.error.contains("the last passphrase"))
    let gone = try await installation.command("keys", "remove", "3", "--yes", environment: opened)
    #expect(gone.status == 0)
    #expect(try await installation.command("keys", "list", environment: opened).status == 77)
  }

  @Test("status asks the running daemon, and needs no key for that")
  func statusWithoutKey() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    let (right, _) = try passphrases(installation)
    let opened = ["THREADKEEPER_STORE_PASSPHRASE_FILE": right]
    #expect(try await installation.command("keys", "add", "--passphrase-file", right).status == 0)
    #expect(
      try await installation.command("keys", "remove", "1", "--yes", environment: opened).status
        == 0)
    let daemon = try DaemonProcess(
      ["run", "--config", installation.configuration],
      environment: installation.environment.merging(opened) { $1 },
      errorFile: installation.directory.file("daemon.log"))
    try await installation.ready(daemon)
    let status = try await installation.command("status")
    #expect(status.status == 0, "\(status.error)")
    #expect(status.output.contains("running as process \(daemon.identifier)"), "\(status.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("a credential of systemd opens the store by itself")
  func credential() async throws {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    let credentials = installation.directory.file("credentials")
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    try Data(String(repeating: "a1", count: 32).utf8)
      .write(to: URL(fileURLWithPath: credentials + "/store_key"))
    chmod(credentials + "/store_key", 0o400)
    let none = try await installation.command("keys", "add", "--systemd-credential", "store_key")
    #expect(none.status == 77 && none.error.contains("CREDENTIALS_DIRECTORY"))
    let service = ["CREDENTIALS_DIRECTORY": credentials]
    let other = try await installation.command(
      "keys", "add", "--systemd-credential", "other", environment: service)
    #expect(other.status == 77 && other.error.contains("no credential other"))
    #expect(
      try await installation.command(
        "keys", "add", "--systemd-credential", "store_key", environment: service
      ).status == 0)
    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    #expect(try await installation.command("keys", "list", environment: service).status == 0)
    #expect(try await installation.command("keys", "list").status == 77)
    // It stays through a rotation without being given, alone and beside a passphrase.
    let asked = try await installation.command("keys", "rotate", environment: service)
    #expect(asked.status == 64 && asked.error.contains("1 (key_file)"), "\(asked.error)")
    #expect(!asked.error.contains("systemd_credential"), "\(asked.error)")
    let alone = try await installation.command("keys", "rotate", "--yes", environment: service)
    #expect(alone.status == 0, "\(alone.error)")
    let file = try installation.passphraseFile("correct horse battery")
    #expect(
      try await installation.command(
        "keys", "add", "--passphrase-file", file, environment: service
      ).status == 0)
    let both = try await installation.command(
      "keys", "rotate", "--passphrase-file", file, environment: service)
    #expect(both.status == 0 && !both.output.contains("is removed"), "\(both.output)\(both.error)")
    #expect(try await installation.command("keys", "list", environment: service).status == 0)
  }

  @Test("a daemon that the key file opened takes every event, and no second passphrase")
  func locked() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    let (right, _) = try passphrases(installation)
    #expect(try await installation.command("keys", "add", "--passphrase-file", right).status == 0)
    let audience = try await Audience.start(broker, "threadkeeper/bridge/#")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router") {
      $0.events("router_announced").contains { $0["border_agent_id"]?.text == router.agent }
    }
    #expect(try await installation.dataset(of: router.agent) != nil)
    let code = try await installation.command("keys", "add", "--recovery-code")
    #expect(code.status == 77 && code.error.contains("locked") && code.output.isEmpty)
    #expect(code.error.contains("`store.passphrase`"), "\(code.error)")
    #expect(try await daemon.stop() == .exit(0))
    let again = try await installation.start(
      environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": right])
    #expect(try await installation.command("keys", "add", "--recovery-code").status == 0)
    #expect(try await again.stop() == .exit(0))
    #expect(!(daemon.log + again.log).contains(Self.passphrase))
  }

  @Test(
    "A key file that is added is said when it is made, and none is made where a stick is not mounted"
  )
  func keyFile() async throws {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    try await expectKeyFiles(installation, "one")
    let daemon = try await installation.start()
    try await expectKeyFiles(installation, "two")
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await installation.json("keys", "list")["slots"]?.list.count == 5)
  }

  private func expectKeyFiles(_ installation: Installation, _ name: String) async throws {
    let stick = installation.directory.file("stick-\(name)")
    let missing = try await installation.command(
      "keys", "add", "--key-file", "\(stick)/deep/store.key")
    #expect(missing.status == 73, "\(missing.error)")
    #expect(missing.error.contains("\(stick)/deep/store.key") && missing.error.contains("mounted"))
    #expect(!FileManager.default.fileExists(atPath: stick))

    let file = installation.directory.file("\(name).key")
    let made = try await installation.command("keys", "add", "--key-file", file)
    #expect(made.status == 0 && made.output.contains("key file is made: \(file)"), "\(made.error)")
    // What is there already is only added.
    let typed = installation.directory.file("\(name)-typed.key")
    try Data(String(repeating: name == "one" ? "1a" : "2b", count: 32).utf8)
      .write(to: URL(fileURLWithPath: typed))
    chmod(typed, 0o400)
    let added = try await installation.json("keys", "add", "--key-file", typed)
    #expect(added["slot"]?["id"] != nil && added["key_file_made"]?.text == nil)
  }

  private static let questions = [
    "New passphrase of the store: ", "The same again: ",
    "Passphrase or recovery code of the store: ",
  ]

  /// Runs a command at a terminal, and answers each of its questions with the same passphrase.
  private func play(_ arguments: [String], _ installation: Installation) async throws -> Int32 {
    let session = try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment)
    var answered = 0
    try await eventually(within: .seconds(120)) {
      let asked = Self.questions.map {
        session.screen.components(separatedBy: $0).count - 1
      }.reduce(0, +)
      if asked > answered, !session.isEchoing {
        session.type("\(Self.passphrase)\n")
        answered += 1
      }
      return !session.isRunning
    }
    return try await session.end()
  }

  @Test(
    "The guide's commands for keys work, one after the other, in the order in which they stand there"
  )
  func block() async throws {
    let installation = try Installation(port: nil)
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
      #expect(try await play(command, installation) == 0, "\(command)")
    }
    // What was written down still opens the store, and the stick does not.
    let slots = try await installation.json("keys", "list")["slots"]?.list
    #expect(slots?.map { $0["kind"]?.text } == ["key_file", "passphrase", "recovery_code"])
    #expect(slots?.allSatisfy { $0["label"]?.text != "stick" } == true)
  }
}
