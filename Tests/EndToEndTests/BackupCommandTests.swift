import Broker
import Foundation
import TestKit
import Testing

/// What a backup and a restore refuse, and what they print, StoreCommandsTests of ThreadkeeperTests has.
@Suite("Backup, and restore here and on a new machine", .inTurns, .timeLimit(.minutes(30))) struct BackupCommandTests {
  private static let passphrase = "correct horse battery staple"

  /// A home whose daemon makes a backup for a command that has no key.
  private struct Home {
    let running: RunningHome
    let network: ThreadNetwork
    let file: String

    static func start() async throws -> Home {
      let running = try await RunningHome()
      let home = Home(
        running: running, network: try ThreadNetwork("home"),
        file: running.installation.directory.file("monday.tkbackup"))
      try await home.announce(BorderRouter(number: 1), count: 1)
      return home
    }

    func announce(_ router: BorderRouter, count: Int64) async throws {
      try await running.publish(router.announces(try network.hex()))
      try await eventually("the router") {
        try await running.installation.json("status")["credentials"]?.number == count
      }
    }
  }

  @Test("A backup beside a running daemon is restored, and the daemon goes on from there") func here() async throws {
    let home = try await Home.start()
    let (installation, file) = (home.running.installation, home.file)
    let key = installation.directory.file("store.key")
    try FileManager.default.moveItem(atPath: key, toPath: key + "-away")
    let verified = try await installation.json("store", "verify")
    #expect(verified["matches_manifest"] == true && verified["condition"] == "healthy")
    let made = try await installation.json("store", "backup", file)
    #expect(made["items"] == 0 && (made["records"]?.number ?? 0) >= 2, "\(made)")
    #expect(made["store_id"]?.text?.isEmpty == false && (made["bytes"]?.number ?? 0) > 0)
    #expect(made["not_included"]?.list.first?.text == key && made["not_included"]?.list.count == 2)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(bytes.range(of: Data(try home.network.hex().utf8)) == nil)
    for (place, words) in [(file, "--force"), (installation.directory.file("none/file"), "none")] {
      let refused = try await installation.command("store", "backup", place)
      #expect(refused.status == 73 && refused.error.contains(words), "\(refused)")
    }
    let forced = try await installation.command("store", "backup", "--force", file)
    #expect(forced.status == 0 && forced.output.contains("store.key"))
    try FileManager.default.moveItem(atPath: key + "-away", toPath: key)

    try await home.announce(BorderRouter(number: 2), count: 2)
    let busy = try await installation.command("store", "restore", "--yes", file)
    #expect(busy.status == 75 && busy.error.contains("in use by threadkeeper"), "\(busy.error)")
    try await home.running.stop()
    let restored = try await installation.json("store", "restore", "--yes", file)
    #expect(restored["records"] == made["records"] && restored["damaged"] == 0, "\(restored)")
    #expect(restored["replaced"] == true && (restored["changes_lost"]?.number ?? 0) > 0)
    #expect(
      try !FileManager.default.contentsOfDirectory(atPath: installation.directory.path).contains { $0.contains(".new") }
    )

    try await home.running.start()
    let status = try await installation.json("status")
    #expect(status["credentials"] == 1 && status["store"]?["condition"] == "healthy")
    try await home.announce(BorderRouter(number: 2), count: 2)
    try await home.running.stop()
    #expect(try installation.verify().unreadable.isEmpty)
  }

  /// As the guide "Move to a new machine" says it.
  @Test("On a new machine a backup is the whole home, and its daemon starts without a question") func move()
    async throws
  {
    let home = try await Home.start()
    let old = home.running.installation
    #expect(try await old.command("clients", "enroll", "hub", try Identity().keys.line).status == 0)
    let shown = try await old.daemonLine()
    let file = try old.passphraseFile(Self.passphrase)
    #expect(try await old.command("keys", "add", "--passphrase-file", file).status == 0)
    #expect(try await old.command("store", "backup", home.file).status == 0)
    try await home.running.stop()

    let new = try Installation(try TestBroker(), hold: 0)
    let key = new.directory.file("store.key")
    for (typed, status) in [("another passphrase", Int32(77)), (Self.passphrase, 0)] {
      let session = try TerminalSession(
        ["store", "restore", home.file, "--config", new.configuration], environment: new.environment)
      try await session.until("Passphrase or recovery code")
      try await session.untilHidden()
      session.type(typed + "\n")
      #expect(try await session.end() == status, "\(session.screen)")
      #expect(!session.screen.contains(typed))
      // The store is opened again to see it, and the passphrase is not asked for a second time.
      for words in ["are restored", "hub, home home", "is made, with key slot 3"] {
        #expect(session.screen.contains(words) == (status == 0), "\(session.screen)")
      }
      #expect(FileManager.default.fileExists(atPath: key) == (status == 0))
    }
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o400)
    let daemon = try await new.start()
    #expect(try await new.dataset(of: BorderRouter(number: 1).agent) == home.network.hex())
    #expect(try await new.json("networks").list.first?["preferred"] == true)
    #expect(try await new.json("clients", "list")["clients"]?.list.map { $0["user"]?.text } == ["hub"])
    #expect(try await new.daemonLine() == shown)
    #expect(try await new.command("audit", "--verify").status == 0)
    #expect(try await daemon.stop() == .exit(0))
    #expect(try new.verify().matchesManifest)
  }

  @Test("A signal ends a backup, also where the daemon says nothing") func silentDaemon() async throws {
    let installation = try Installation(try TestBroker())
    let daemon = try await installation.start()
    // It takes calls, as the kernel does it, and has no time for them.
    try await daemon.suspend()
    defer { daemon.signal(SIGCONT) }
    let socket = installation.socketPath
    let before = try WaitingCalls.count(at: socket)
    let file = installation.directory.file("home.tkbackup")
    let session = try TerminalSession(
      ["store", "backup", file, "--config", installation.configuration], environment: installation.environment)
    try await eventually("the command to call the daemon") { try WaitingCalls.count(at: socket) > before }
    try session.signal(SIGTERM)
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.screen.contains("Stopped. Nothing was changed."), "\(session.screen)")
    daemon.signal(SIGCONT)
    #expect(try await daemon.stop() == .exit(0))
    let left = try FileManager.default.contentsOfDirectory(atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains("tkbackup") }, "\(left)")
  }
}
