// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Backup and restore by command", .inTurns, .timeLimit(.minutes(30)))
struct BackupCommandTests {
  @Test("A backup beside a running daemon is restored, and the daemon goes on from there")
  func backupAndRestore() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let file = installation.directory.file("monday.tkbackup")
    let none = try await installation.command("store", "backup", file)
    #expect(none.status == 69 && none.error.contains("threadkeeper run"), "\(none.error)")
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let dataset = try home.hex()
    func announce(_ router: BorderRouter, _ name: String) async throws {
      try await publisher.publish([
        router.says("announce", ("name", "\"\(name)\""), ("dataset", "\"\(dataset)\""))
      ])
    }
    let (hub, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await announce(hub, "Hub")
    try await eventually { try await installation.json("status")["credentials"] == 1 }

    let made = try await installation.json("store", "backup", file)
    #expect(made["items"] == 0 && (made["records"]?.number ?? 0) >= 2, "\(made)")
    #expect(made["not_included"]?.list.count == 2)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(bytes.range(of: Data(dataset.utf8)) == nil)
    let again = try await installation.command("store", "backup", file)
    #expect(again.status == 73 && again.error.contains("--force"))
    let forced = try await installation.command("store", "backup", "--force", file)
    #expect(forced.status == 0 && forced.output.contains("store.key"))

    try await announce(stray, "Stray")
    try await eventually { try await installation.json("status")["credentials"] == 2 }
    let busy = try await installation.command("store", "restore", "--yes", file)
    #expect(busy.status == 75 && busy.error.contains("in use by threadkeeper"), "\(busy.error)")
    try await daemon.stop()
    let unasked = try await installation.command("store", "restore", file)
    #expect(unasked.status == 73 && unasked.error.contains("--yes"))
    let restored = try await installation.json("store", "restore", "--yes", file)
    #expect(restored["records"] == made["records"] && restored["damaged"] == 0, "\(restored)")
    #expect(restored["replaced"] == true && (restored["changes_lost"]?.number ?? 0) > 0)

    daemon = try await installation.start()
    let status = try await installation.json("status")
    #expect(status["credentials"] == 1 && status["store"]?["condition"] == "healthy")
    try await announce(stray, "Stray")
    try await eventually { try await installation.json("status")["credentials"] == 2 }
    try await daemon.stop()
    #expect(try installation.verify().unreadable.isEmpty)
    withExtendedLifetime(audience) {}
  }

  @Test("A running daemon verifies and backs up for a command that has no key")
  func withoutKey() async throws {
    let installation = try Installation(try TestBroker())
    let daemon = try await installation.start()
    let key = installation.directory.file("store.key")
    try FileManager.default.moveItem(atPath: key, toPath: key + "-away")
    let file = installation.directory.file("monday.tkbackup")
    let verified = try await installation.json("store", "verify")
    #expect(verified["matches_manifest"] == true && verified["condition"] == "healthy")
    let made = try await installation.json("store", "backup", file)
    #expect(made["store_id"]?.text?.isEmpty == false && (made["bytes"]?.number ?? 0) > 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try await installation.command("store", "backup", file).status == 73)
    let nowhere = try await installation.command(
      "store", "backup", installation.directory.file("none/file"))
    #expect(nowhere.status == 73, "\(nowhere.error)")
    #expect(try await daemon.stop() == .exit(0))
    try FileManager.default.moveItem(atPath: key + "-away", toPath: key)
    let restored = try await installation.command("store", "restore", "--yes", file)
    #expect(restored.status == 0, "\(restored.error)")
    let left = try FileManager.default.contentsOfDirectory(
      atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains(".new") }, "\(left)")
  }

  @Test("A restore says who has access again, though it was revoked since, and with whose password")
  func access() async throws {
    let installation = try Installation(port: 1, mqtt: ["username: keeper"])
    try installation.makeStore()
    let anna = try await installation.clientKeygen(installation.directory.file("anna.key"))
    let file = installation.directory.file("monday.tkbackup")
    try await installation.serving {
      #expect(try await installation.command("clients", "enroll", "anna", anna).status == 0)
      let login = try await ThreadkeeperBinary.run(
        ["login", "--password-stdin", "--no-validate", "--config", installation.configuration],
        input: .text("sesame-of-monday"), environment: installation.environment)
      #expect(login.status == 0, "\(login.error)")
      #expect(try await installation.command("store", "backup", file).status == 0)
      #expect(try await installation.command("clients", "revoke", "anna").status == 0)
      #expect(try await installation.command("login", "--remove").status == 0)
    }

    let told = try await installation.command("store", "restore", "--yes", file)
    #expect(told.status == 0, "\(told.error)")
    #expect(told.output.contains("Revoke again who was revoked since"), "\(told.output)")
    #expect(told.output.contains("    anna, home home\n"), "\(told.output)")
    #expect(told.output.contains("    keeper at mqtt://127.0.0.1:1\n"), "\(told.output)")
    #expect(told.output.contains("  1 key slot\n    1: key_file\n"), "\(told.output)")
    // The generation has leapt with the first restore: it counts no changes any more.
    let again = try await installation.command("store", "restore", "--yes", file)
    #expect(again.output.contains("What was changed since 20"), "\(again.output)")
    try await installation.serving {
      let audit = try await installation.command("audit")
      #expect(audit.output.contains("all changes since then are lost"), "\(audit.output)")
      #expect(!audit.output.contains("10000"), "\(audit.output)")
    }
    let report = try await installation.json("store", "restore", "--yes", file)
    #expect(report["changes_lost"] == nil)
    #expect(report["access"]?["key_slots"]?.list.map { $0["kind"]?.text } == ["key_file"])
    #expect(report["backup_made"]?.text?.hasSuffix("Z") == true)
    #expect(report["access"]?["clients"]?.list.map { $0["user"]?.text } == ["anna"])
    #expect(report["access"]?["grants"] == [])
    #expect(report["access"]?["broker_logins"]?.list.first?["username"] == "keeper")
    try await installation.serving { () async throws in
      #expect(try await installation.json("clients", "list")["clients"]?.list.count == 1)
    }
  }

  @Test("What is no backup, or an altered or cut one, is refused with words")
  func refusals() async throws {
    let installation = try Installation(port: 1)
    let file = installation.directory.file("backup")
    try await installation.serving { () async throws in
      #expect(try await installation.command("store", "backup", file).status == 0)
    }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let altered = try await installation.command("store", "restore", "--yes", file)
    #expect(altered.status == 65 && altered.error.contains("was altered or is damaged"))
    try Data(bytes[..<(bytes.count - 1)]).write(to: URL(fileURLWithPath: file))
    let cut = try await installation.command("store", "restore", "--yes", file)
    #expect(cut.status == 65 && cut.error.contains("ends too early"), "\(cut.error)")
    let text = try await installation.command(
      "store", "restore", "--yes", installation.configuration)
    #expect(text.status == 65 && text.error.contains("no backup"))
    let missing = try await installation.command("store", "restore", "--yes", file + "-none")
    #expect(missing.status == 66)
    #expect(try installation.verify().matchesManifest)
    // Nor does anything come of it where there is no store.
    let other = try Installation(port: 1)
    let key = installation.directory.file("store.key")
    let refused = try await other.command("store", "restore", "--key-file", key, file)
    #expect(refused.status == 65, "\(refused.error)")
    let wrong = try await other.command(
      "store", "restore", "--key-file", installation.configuration, file)
    #expect(wrong.status != 0)
    #expect(!FileManager.default.fileExists(atPath: other.directory.file("store.key")))
    #expect(!FileManager.default.fileExists(atPath: other.location.databasePath))
  }

  private static let passphrase = "correct horse battery"

  /// A backup of a store with a key file, a passphrase and a credential, and no key file any more.
  private func backupWithoutItsKeyFile() async throws -> (
    Installation, file: String, credentials: String
  ) {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    let passphrase = try installation.passphraseFile(Self.passphrase)
    let credentials = installation.directory.file("credentials")
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    try Data(String(repeating: "a1", count: 32).utf8)
      .write(to: URL(fileURLWithPath: credentials + "/store_key"))
    chmod(credentials + "/store_key", 0o400)
    #expect(
      try await installation.command(
        "keys", "add", "--systemd-credential", "store_key",
        environment: ["CREDENTIALS_DIRECTORY": credentials]
      ).status == 0)
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphrase).status == 0)
    let anna = try await installation.clientKeygen(installation.directory.file("anna.key"))
    let file = installation.directory.file("monday.tkbackup")
    try await installation.serving { () async throws in
      #expect(try await installation.command("clients", "enroll", "anna", anna).status == 0)
      #expect(try await installation.command("store", "backup", file).status == 0)
    }
    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    return (installation, file, credentials)
  }

  @Test("Without the key file a backup is opened as a store is: by a credential, by who is asked")
  func waysIn() async throws {
    let (installation, file, credentials) = try await backupWithoutItsKeyFile()
    let nobody = try await installation.command("store", "restore", "--yes", file)
    #expect(nobody.status == 77 && nobody.error.contains("there is no key file"), "\(nobody.error)")
    let service = try await installation.command(
      "store", "restore", "--yes", file, environment: ["CREDENTIALS_DIRECTORY": credentials])
    #expect(service.status == 0, "\(service.error)")
    for (typed, status) in [("another passphrase", Int32(77)), (Self.passphrase, 0)] {
      let session = try TerminalSession(
        ["store", "restore", "--yes", file, "--config", installation.configuration],
        environment: installation.environment)
      try await session.until("Passphrase or recovery code")
      try await session.untilHidden()
      session.type(typed + "\n")
      #expect(try await session.end() == status, "\(session.screen)")
      #expect(!session.screen.contains(typed))
      #expect(session.screen.contains(status == 0 ? "are restored" : "mistyped"))
      // The store is opened again to see it, and the passphrase is not asked for a second time.
      #expect(session.screen.contains("anna, home home") == (status == 0), "\(session.screen)")
    }
  }

  @Test("Who names a passphrase means it: nothing else is tried, and nobody is asked")
  func namedPassphrase() async throws {
    let (installation, file, credentials) = try await backupWithoutItsKeyFile()
    let wrong = try await installation.command(
      "store", "restore", "--yes", file,
      environment: [
        "THREADKEEPER_STORE_PASSPHRASE": "another passphrase",
        "CREDENTIALS_DIRECTORY": credentials,
      ])
    #expect(wrong.status == 77 && wrong.error.contains("mistyped"), "\(wrong.error)")
    let right = try await installation.command(
      "store", "restore", "--yes", file,
      environment: ["THREADKEEPER_STORE_PASSPHRASE": Self.passphrase])
    #expect(right.status == 0, "\(right.error)")
  }
}
