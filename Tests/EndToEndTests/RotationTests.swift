// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import Synchronization
import TestKit
import Testing

@Suite("keys rotate", .inTurns, .timeLimit(.minutes(30)))
struct RotationTests {
  private static let passphrase = "correct horse battery"

  private let broker: TestBroker
  private let installation: Installation
  /// Not added yet.
  private let passphraseFile: String
  private let leaked: String
  /// Whose commands these are, in the audit.
  private let user = "command of user \(geteuid())"

  /// A store with a second key file.
  init() async throws {
    broker = try TestBroker()
    installation = try Installation(broker)
    passphraseFile = try installation.passphraseFile(Self.passphrase)
    leaked = installation.directory.file("leaked.key")
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--key-file", leaked).status == 0)
  }

  /// Every change that the audit has, as `actor: action`.
  private func audit() throws -> [String] { try installation.audit() }

  @Test("a daemon that the key file opened rotates by the passphrase, also what is locked")
  func locked() async throws {
    try installation.fill(300)
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphraseFile).status == 0
    )
    let daemon = try await installation.start()
    let asked = try await installation.command(
      "keys", "rotate", "--passphrase-file", passphraseFile)
    #expect(asked.status == 64 && asked.error.contains("2 (key_file)"), "\(asked.error)")
    let done = try await installation.command(
      "keys", "rotate", "--yes", "--passphrase-file", passphraseFile)
    #expect(done.status == 0, "\(done.error)")
    #expect(done.output.contains("300 items are under new keys"), "\(done.output)")
    #expect(throws: KeychainError.self) {
      _ = try Keychain.open(
        at: installation.location, with: .keyFile(path: leaked), access: .readOnly)
    }
    #expect(try await daemon.stop() == .exit(0))
    let found = try audit()
    #expect(
      found.suffix(2) == ["\(user): keys_rotated", "\(user): key_slot_removed"], "\(found)")
    #expect(try await installation.command("store", "verify").status == 0)
    let keychain = try Keychain.open(
      at: installation.location, with: try .passphrase(inFile: passphraseFile), access: .readOnly)
    let report = try keychain.verify(.everything)
    var whole = VerificationReport(items: 300)
    // What the daemon keeps of its home and of itself.
    whole.records = report.records
    #expect(report == whole && report.records > 0)
  }

  @Test("what a command does through the daemon, the audit says of who gave it")
  func actors() async throws {
    let daemon = try await installation.start()
    let spare = installation.directory.file("spare.key")
    #expect(try await installation.command("keys", "add", "--key-file", spare).status == 0)
    #expect(try await installation.command("keys", "remove", "3").status == 0)
    #expect(try await installation.command("keys", "rotate", "--yes").status == 0)
    let login = try await ThreadkeeperBinary.run(
      [
        "login", "--username", "keeper", "--password-stdin", "--no-validate", "--config",
        installation.configuration,
      ], input: .text("Sesame"), environment: installation.environment)
    #expect(login.status == 0, "\(login.error)")
    #expect(try await daemon.stop() == .exit(0))
    let found = try audit()
    #expect(
      found.filter { !$0.hasPrefix("daemon:") }.suffix(5) == [
        "\(user): key_slot_added", "\(user): key_slot_removed", "\(user): keys_rotated",
        "\(user): key_slot_removed", "\(user): added",
      ], "\(found)")
  }

  @Test("kill -9 in the middle, again and again: nothing is lost, and no event")
  func killed() async throws {
    let items = 12_000
    try installation.fill(items)
    let audience = try await Audience.start(broker, "threadkeeper/bridge/#")
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    #expect(try await installation.command("keys", "rotate", "--yes").status == 0)
    let log = installation.location.directory + "/store.sqlite3-wal"
    for kill in 1...6 {
      let daemon = try await installation.start()
      let command = Command()
      async let rotation = command.run { try await installation.command("keys", "rotate").status }
      // On a fast machine it may be over before we look.
      try await eventually("the rotation to write") {
        var status = stat()
        return command.isOver || stat(log, &status) == 0 && status.st_size > kill * 500_000
      }
      let router = BorderRouter(number: kill)
      try await publisher.publish([router.announces(try home.hex())])
      if kill.isMultiple(of: 2) {
        try await audience.until("router \(kill)") {
          $0.events("router_announced").contains { $0["border_agent_id"]?.text == router.agent }
        }
      }
      try await daemon.kill9()
      #expect([0, 75].contains(try await rotation))
      let report = try installation.verify()
      #expect(report.matchesManifest && report.unreadable.isEmpty && report.locked == 0)
      #expect(report.items >= items)
    }
    let daemon = try await installation.start()
    let last = try await installation.command("keys", "rotate")
    #expect(last.status == 0 && last.output.contains("are under new keys"), "\(last.error)")
    for number in 1...6 {
      #expect(try await installation.dataset(of: BorderRouter(number: number).agent) != nil)
    }
    #expect(try await daemon.stop() == .exit(0))
    let whole = try installation.verify()
    #expect(whole.items >= items && whole.records >= 6 && whole.unreadableRecords.isEmpty)
    #expect(try await installation.command("store", "verify").status == 0)
  }

  /// Whether a command that runs beside the test has ended.
  private final class Command: Sendable {
    private let hasEnded = Mutex(false)

    var isOver: Bool { hasEnded.withLock { $0 } }

    func run<R>(_ body: () async throws -> R) async throws -> R {
      defer { hasEnded.withLock { $0 = true } }
      return try await body()
    }
  }

  @Test("who follows the audit is shown the rotation, and what comes after it")
  func followed() async throws {
    let daemon = try await installation.start()
    let session = try TerminalSession(
      ["audit", "--follow", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("key_slot_added")
    #expect(try await installation.command("keys", "rotate", "--yes").status == 0)
    try await session.until("keys_rotated")
    let spare = installation.directory.file("spare.key")
    #expect(
      try await installation.command("keys", "add", "--key-file", spare, "--label", "spare").status
        == 0)
    try await session.until("spare")
    session.type("\u{3}")
    _ = try await session.end()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("at a terminal the passphrase is asked for")
  func asked() async throws {
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphraseFile).status == 0
    )
    let daemon = try await installation.start()
    let session = try TerminalSession(
      ["keys", "rotate", "--yes", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type(Self.passphrase + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(!session.screen.contains(Self.passphrase))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("items of a device that is gone stop it, and are deleted only where that is asked for")
  func deviceGone() async throws {
    let keyFile = KeySlotSecret.keyFile(path: installation.directory.file("store.key"))
    let keychain = try Keychain.open(at: installation.location, with: keyFile)
    try keychain.database.write { tx in
      _ = try keychain.add(
        NewItem(
          .genericPassword, attributes: [.account: .string("here")],
          secret: SecretBytes(copying: Array("secret".utf8)),
          accessible: .whenUnlockedThisDeviceOnly), in: tx)
    }
    keychain.close()
    try FileManager.default.removeItem(atPath: installation.location.deviceKeyPath)
    let refused = try await installation.command("keys", "rotate", "--yes")
    #expect(refused.status != 0 && refused.error.contains("1 items"), "\(refused.error)")
    #expect(refused.error.contains("--delete-device-items"), "\(refused.error)")
    let done = try await installation.command(
      "keys", "rotate", "--delete-device-items", "--yes", "--json")
    #expect(done.status == 0, "\(done.error)")
    #expect(JSON(done.output)?["deleted"]?.number == 1, "\(done.output)")
    #expect(try installation.verify() == VerificationReport(items: 0))
    #expect(try audit().contains("\(user): deleted"))
  }
}

extension Installation {
  /// Adds items of both kinds, as other programs have them.
  func fill(_ count: Int) throws {
    let keychain = try Keychain.open(
      at: location, with: .keyFile(path: directory.file("store.key")))
    defer { keychain.close() }
    try keychain.database.write { tx in
      for number in 0..<count {
        _ = try keychain.add(
          NewItem(
            .genericPassword,
            attributes: [.account: .string("user \(number)"), .service: .string("mail")],
            secret: SecretBytes(copying: Array("secret \(number)".utf8)),
            accessible: number % 2 == 0 ? .afterFirstUnlock : .whenUnlocked), in: tx)
      }
    }
  }
}
