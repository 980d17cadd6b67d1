// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite("New root keys", .inTurns, .timeLimit(.minutes(30)))
struct MasterKeyTests {
  private let place: RotatingHome
  private var installation: Installation { place.installation }
  private var passphraseFile: String { place.passphraseFile }
  private var leaked: String { place.leaked }
  private var user: String { place.user }

  init() async throws { place = try await RotatingHome() }

  @Test(
    "a daemon that the key file opened renews the roots by the passphrase, and what is locked follows"
  )
  func locked() async throws {
    try place.fill(300)
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphraseFile).status == 0
    )
    var daemon = try await installation.start()
    let asked = try await installation.command(
      "keys", "rotate", "--master", "--passphrase-file", passphraseFile)
    #expect(asked.status == 64 && asked.error.contains("2 (key_file)"), "\(asked.error)")
    let done = try await installation.command(
      "keys", "rotate", "--master", "--yes", "--passphrase-file", passphraseFile)
    #expect(done.status == 0, "\(done.error)")
    #expect(done.output.contains("300 items have new keys"), "\(done.output)")
    #expect(done.output.contains("150 items are locked"), "\(done.output)")
    #expect(!done.output.contains("interrupted"))
    #expect(throws: KeychainError.self) {
      _ = try Keychain.open(
        at: installation.location, with: .keyFile(path: leaked), access: .readOnly)
    }
    // With the passphrase it goes on with what was locked.
    #expect(try await daemon.stop() == .exit(0))
    daemon = try await installation.start(
      environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": passphraseFile])
    try await eventually("the rest of the items") {
      try await place.audit().filter { $0 == "daemon: rotation_finished" }.count == 2
    }
    #expect(try await daemon.stop() == .exit(0))
    let found = try await place.audit()
    #expect(
      found.suffix(5) == [
        "\(user): root_keys_renewed", "\(user): key_slot_removed", "\(user): rotation_begun",
        "daemon: rotation_finished", "daemon: rotation_finished",
      ], "\(found)")
    #expect(try await installation.command("audit", "--verify").status == 0)
    let keychain = try Keychain.open(
      at: installation.location, with: try .passphrase(inFile: passphraseFile), access: .readOnly)
    #expect(try keychain.verify(.everything) == VerificationReport(items: 300))
  }

  @Test("what a command does through the daemon, the audit says of who gave it")
  func actors() async throws {
    let daemon = try await installation.start()
    let spare = installation.directory.file("spare.key")
    #expect(try await installation.command("keys", "add", "--key-file", spare).status == 0)
    #expect(try await installation.command("keys", "remove", "3").status == 0)
    #expect(try await installation.command("keys", "rotate").status == 0)
    let login = try await ThreadkeeperBinary.run(
      [
        "login", "--username", "keeper", "--password-stdin", "--no-validate", "--config",
        installation.configuration,
      ], input: .text("Sesame"), environment: installation.environment)
    #expect(login.status == 0, "\(login.error)")
    #expect(try await daemon.stop() == .exit(0))
    let found = try await place.audit()
    #expect(
      found.filter { !$0.hasPrefix("daemon:") }.suffix(4) == [
        "\(user): key_slot_added", "\(user): key_slot_removed", "\(user): rotation_begun",
        "\(user): added",
      ], "\(found)")
    #expect(found.contains("daemon: rotation_finished"))
  }

  @Test(
    "new roots in the middle of a rotation are refused; they come when it is over, after a kill -9 too"
  )
  func underWay() async throws {
    try place.fill()
    for _ in 0..<10 {
      let daemon = try await installation.start()
      try await place.untilRotated()
      let begins = "\(user): rotation_begun"
      let before = try await place.audit().count { $0 == begins }
      async let rotation = installation.command("keys", "rotate")
      try await eventually("the rotation to begin") {
        try await place.audit().count { $0 == begins } > before
      }
      let master = try await installation.command("keys", "rotate", "--master", "--yes")
      try await daemon.kill9()
      #expect([0, 75].contains(try await rotation.status))
      let isPending = try await installation.json("status")["store"]?["rotation_pending"] == true
      guard master.status == 75, isPending else { continue }
      #expect(master.error.contains("try again when that is over"), "\(master.error)")
      let again = try await installation.start()
      try await place.untilRotated()
      let done = try await installation.command("keys", "rotate", "--master", "--yes")
      #expect(done.status == 0 && !done.output.contains("interrupted"), "\(done.error)")
      #expect(done.output.contains("\(RotatingHome.items) items have new keys"), "\(done.output)")
      #expect(try await again.stop() == .exit(0))
      #expect(try await installation.command("audit", "--verify").status == 0)
      #expect(try installation.verify() == VerificationReport(items: RotatingHome.items))
      return
    }
    Issue.record("no command came in the middle")
  }

  @Test("who follows the audit is shown the new roots, and what comes after them")
  func followed() async throws {
    let session = try TerminalSession(
      ["audit", "--follow", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("key_slot_added")
    #expect(try await installation.command("keys", "rotate", "--master", "--yes").status == 0)
    try await session.until("root_keys_renewed")
    try await session.until("rotation_finished")
    session.type("\u{3}")
    _ = try await session.end()
  }

  @Test("at a terminal the passphrase is asked for")
  func asked() async throws {
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphraseFile).status == 0
    )
    let daemon = try await installation.start()
    let session = try TerminalSession(
      ["keys", "rotate", "--master", "--yes", "--config", installation.configuration],
      environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type(RotatingHome.passphrase + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(!session.screen.contains(RotatingHome.passphrase))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("items of a device that is gone are told, and deleted only where that is asked for")
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
    let wrong = try await installation.command("keys", "rotate", "--delete-device-items")
    #expect(wrong.status == 64)
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphraseFile).status == 0
    )
    let secret = ["--passphrase-file", passphraseFile]
    let first = try await installation.command(
      "keys", "rotate", "--master", "--yes", secret[0], secret[1])
    #expect(first.status == 0, "\(first.error)")
    #expect(first.output.contains("1 items for this device only wait"), "\(first.output)")
    let asked = try await installation.command(
      "keys", "rotate", "--master", "--delete-device-items", secret[0], secret[1])
    #expect(asked.status == 64 && asked.error.contains("1 items"), "\(asked.error)")
    let second = try await installation.command(
      "keys", "rotate", "--master", "--delete-device-items", "--yes", "--json", secret[0],
      secret[1])
    #expect(second.status == 0, "\(second.error)")
    #expect(JSON(second.output)?["deleted"]?.number == 1, "\(second.output)")
    #expect(try installation.verify() == VerificationReport(items: 0))
    #expect(try await place.audit().contains("\(user): deleted"))
  }
}
