// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// As the guide "Move to a new machine" says it.
@Suite("A home on a new machine", .inTurns, .timeLimit(.minutes(30)))
struct MoveCommandTests {
  /// What opens the backup there.
  enum Way: CaseIterable {
    case passphrase, recoveryCode, keyFile
  }

  @Test(
    "Opened by a passphrase, a recovery code or the old key file, a backup is the whole home",
    arguments: Way.allCases)
  func move(_ way: Way) async throws {
    let (oldBroker, newBroker) = (try TestBroker(), try TestBroker())
    let (old, new) = (try Installation(oldBroker, hold: 0), try Installation(newBroker, hold: 0))
    let oldDaemon = try await old.start()
    let publisher = try await TestPublisher.start(oldBroker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await eventually { try await old.json("status")["credentials"] == 1 }
    #expect(try await old.command("clients", "enroll", "hub", try Identity().keys.line).status == 0)
    let shown = try await old.daemonLine()
    let passphrase = "correct horse battery staple"
    #expect(
      try await old.command(
        "keys", "add", "--passphrase-file", try old.passphraseFile(passphrase)
      ).status == 0)
    let code = try #require(
      try await old.json("keys", "add", "--recovery-code")["recovery_code"]?.text)
    Recorder.current?.note("a recovery code", code)
    let file = old.directory.file("home.tkbackup")
    #expect(try await old.command("store", "backup", file).status == 0)
    #expect(try await oldDaemon.stop() == .exit(0))

    let oldKey = old.directory.file("store.key")
    let screen =
      switch way {
      case .passphrase: try await restore(file, typing: passphrase, new)
      case .recoveryCode: try await restore(file, typing: code, new)
      case .keyFile: try await restore(file, keyFile: oldKey, new)
      }
    #expect(!screen.contains(passphrase) && !screen.contains(code))
    #expect(
      screen.contains("records and 1 item are restored") && screen.contains("hub, home home"),
      "\(screen)")
    #expect(screen.contains("is made, with key slot 4"), "\(screen)")
    let key = new.directory.file("store.key")
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o400)
    #expect(!FileManager.default.contentsEqual(atPath: key, andPath: oldKey))

    let newDaemon = try await new.start()
    #expect(
      try await new.dataset(of: router.agent) == home.hex(),
      "the daemon starts without a question, and has the credentials")
    #expect(try await new.json("routers").list.count == 1)
    #expect(try await new.json("networks").list.first?["preferred"] == true)
    #expect(
      try await new.json("clients", "list")["clients"]?.list.map { $0["user"]?.text } == ["hub"])
    #expect(try await new.daemonLine() == shown)
    let slots = try await new.json("keys", "list")["slots"]?.list ?? []
    #expect(
      slots.map { $0["kind"]?.text } == ["key_file", "passphrase", "recovery_code", "key_file"])
    #expect(slots.map { $0["opens"]?.text } == ["no", "not_tried", "not_tried", "yes"])
    #expect(try await new.command("audit", "--verify").status == 0)
    #expect(try await newDaemon.stop() == .exit(0))
    #expect(try new.verify().matchesManifest)
  }

  private func restore(
    _ file: String, typing secret: String, _ new: Installation
  ) async throws -> String {
    let session = try TerminalSession(
      ["store", "restore", file, "--config", new.configuration], environment: new.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type(secret + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    return session.screen
  }

  private func restore(
    _ file: String, keyFile: String, _ new: Installation
  ) async throws -> String {
    let outcome = try await new.command("store", "restore", "--key-file", keyFile, file)
    #expect(outcome.status == 0, "\(outcome.error)")
    return outcome.output
  }

  @Test("A full disk takes no half backup", .enabled(if: PrivateMount.isPossible))
  func full() async throws {
    let directory = try TemporaryDirectory()
    let mount = try PrivateMount(in: directory, megabytes: 4)
    let installation = try Installation(port: nil, launcher: mount.launcher)
    let daemon = try await installation.start()
    let file = mount.path + "/home.tkbackup"
    try mount.fill()
    let refused = try await installation.command("store", "backup", file)
    #expect(refused.status == 74, "\(refused.error)")
    #expect(try !mount.run("ls '\(mount.path)'").contains("tkbackup"))
    try mount.empty()
    #expect(try await installation.command("store", "backup", file).status == 0)
    #expect(try mount.run("ls '\(mount.path)'").contains("home.tkbackup\n"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A signal ends a backup, also where the daemon says nothing")
  func silentDaemon() async throws {
    let installation = try Installation(try TestBroker())
    let daemon = try await installation.start()
    // It takes calls, as the kernel does it, and has no time for them.
    try await daemon.suspend()
    defer { daemon.signal(SIGCONT) }
    let socket = installation.socketPath
    let before = try WaitingCalls.count(at: socket)
    let file = installation.directory.file("home.tkbackup")
    let session = try TerminalSession(
      ["store", "backup", file, "--config", installation.configuration],
      environment: installation.environment)
    try await eventually("the command to call the daemon") {
      try WaitingCalls.count(at: socket) > before
    }
    try session.signal(SIGTERM)
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.screen.contains("Stopped. Nothing was changed."), "\(session.screen)")
    daemon.signal(SIGCONT)
    #expect(try await daemon.stop() == .exit(0))
    let left = try FileManager.default.contentsOfDirectory(atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains("tkbackup") }, "\(left)")
  }
}
